//! The gradients of any call, by hand, and whether they are right.
//!
//! The gradient of features is compared with how fast the plain reference changes as the features move in a random
//! direction, and the gradient of boxes of an average, in f64, with how fast it changes as they do.

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::primitive;
use burn_roi::*;

use super::AnyCall;
use super::verdict::{Flaw, Levels, flaws, judge, value};
use crate::problem::{Operator, random_numbers};
use crate::reference::{Coordinates, DOUBLE, SINGLE};
use crate::reference_crop::positions_of_crop;

/// The gradient of the output that gradients are made from.
#[derive(Debug, Clone)]
pub struct OutputGradient {
    /// What is added to the dimensions of the output.
    pub longer: [usize; 4],
    pub dtype: DType,
    /// The number of an element that is no random number, and what it is.
    pub special: Option<(usize, f32)>,
}

/// The gradients of a call.
pub struct Gradients {
    /// One for each level.
    pub features: Vec<TensorData>,
    pub boxes: TensorData,
}

impl AnyCall {
    /// The gradients of the call.
    pub fn run_backward(&self, gradient: &OutputGradient, device: &Device) -> Result<Gradients, RoiError> {
        let data = TensorData::new(self.output_gradient(gradient), self.output_shape(gradient));
        let data = data.convert_dtype(gradient.dtype);
        let weights = Tensor::<4>::from_data(data, (device, gradient.dtype)).into_dispatch();
        let (boxes, indices) = (self.boxes(device), self.batch_indices(device));
        let regions = primitive::RegionTensors::new(boxes.into_dispatch(), indices.into_dispatch());
        let features = |level| self.features(device, level).into_dispatch();
        if let (Operator::RoiAlign(config), Some(pyramid)) = (&self.operator, &self.pyramid) {
            let features = (0..pyramid.scales.len()).map(features).collect();
            let (scales, config) = (&pyramid.scales, pyramid.config(config));
            let (pyramid, config) = (config.pyramid(), config.roi_align);
            let backward =
                primitive::try_multi_scale_backward::<Dispatch>(weights, features, regions, scales, config, pyramid)?;
            return Ok(Gradients {
                features: backward.features().into_iter().map(data_of::<4>).collect(),
                boxes: data_of::<2>(backward.boxes()),
            });
        }
        let backward = self.operator.backward(weights, features(0), regions)?;
        Ok(Gradients {
            features: vec![data_of::<4>(backward.features())],
            boxes: data_of::<2>(backward.boxes()),
        })
    }

    fn output_shape(&self, gradient: &OutputGradient) -> [usize; 4] {
        let [_, channels, ..] = self.shape;
        // A size that is refused may be too large for a tensor.
        let [rows, columns] = self.operator.output_size().map(|side| side.min(64));
        let channels = channels.checked_div(self.operator.input_channels()).unwrap_or(0);
        let sizes = [self.count(), channels, rows, columns];
        std::array::from_fn(|axis| sizes[axis] + gradient.longer[axis])
    }

    fn output_gradient(&self, gradient: &OutputGradient) -> Vec<f32> {
        let count = self.output_shape(gradient).iter().product();
        let mut numbers = random_numbers(self.seed.wrapping_add(77), count);
        if let Some((number, special)) = gradient.special.filter(|_| count > 0) {
            numbers[number % count] = special;
        }
        numbers
    }
}

fn data_of<const D: usize>(tensor: burn::backend::DispatchTensor) -> TensorData {
    Tensor::<D>::from_dispatch(tensor).into_data()
}

/// Whether the outcome of a backward call is right; says what is not.
pub fn verdict_of_gradients(
    call: &AnyCall,
    gradient: &OutputGradient,
    outcome: &Result<Gradients, RoiError>,
    device: &Device,
    host: bool,
) -> Result<(), String> {
    let mut flaws = flaws(call, host);
    if gradient.longer != [0; 4] {
        flaws.push(Flaw::Shape);
    }
    if gradient.dtype != call.dtype {
        flaws.push(Flaw::DType);
    }
    let Some(found) = judge(&flaws, outcome)? else {
        return Ok(());
    };
    shapes(call, found)?;
    if let Some((number, _)) = gradient.special {
        return stays_within_reach(call, gradient, number, found, device);
    }
    let Some(slopes) = Slopes::new(call, gradient) else {
        return Ok(());
    };
    of_features(call, &slopes, found)?;
    of_boxes(call, &slopes, found)
}

fn shapes(call: &AnyCall, found: &Gradients) -> Result<(), String> {
    let levels = found.features.iter().enumerate();
    let features = levels.map(|(level, data)| (data, call.shape_of_level(level).to_vec(), call.dtype));
    let boxes = [(&found.boxes, vec![call.count(), 4], call.box_dtype)];
    for (data, shape, dtype) in features.chain(boxes) {
        if data.shape().to_vec() != shape || data.dtype() != dtype {
            return Err(format!("gave {:?} {:?}, not {shape:?}", data.dtype(), data.shape()));
        }
    }
    Ok(())
}

/// A NaN in the gradient of an element reaches pixels of the element's image and channel, and its own box. All other
/// numbers are those that 0 in its place gives.
fn stays_within_reach(
    call: &AnyCall,
    gradient: &OutputGradient,
    number: usize,
    found: &Gradients,
    device: &Device,
) -> Result<(), String> {
    let shape = call.output_shape(gradient);
    let count: usize = shape.iter().product();
    if count == 0 {
        return Ok(());
    }
    let number = number % count;
    let (row, channel) = (
        number / (shape[1] * shape[2] * shape[3]),
        number / (shape[2] * shape[3]) % shape[1],
    );
    let zero = OutputGradient {
        special: Some((number, 0.0)),
        ..gradient.clone()
    };
    let without = call.run_backward(&zero, device).map_err(|error| error.to_string())?;
    let image = call.regions()[row].0;
    for (level, (found, without)) in found.features.iter().zip(&without.features).enumerate() {
        let [_, channels, height, width] = call.shape_of_level(level);
        let of_a_channel = call.operator.input_channels();
        for (pixel, (found, without)) in found.iter::<f64>().zip(without.iter::<f64>()).enumerate() {
            let plane = pixel / (height * width);
            let reached = (plane / channels) as i128 == image && plane % channels / of_a_channel == channel;
            if !(found == without || found.is_nan() && reached) {
                return Err(format!(
                    "NaN in element {number} made pixel {pixel} {found}, not {without}"
                ));
            }
        }
    }
    for (end, (found, without)) in found.boxes.iter::<f64>().zip(without.boxes.iter::<f64>()).enumerate() {
        if !(found == without || found.is_nan() && (without.is_nan() || end / 4 == row)) {
            return Err(format!("NaN in element {number} made end {end} {found}, not {without}"));
        }
    }
    Ok(())
}

/// How the plain reference changes as its numbers move.
struct Slopes<'a> {
    call: &'a AnyCall,
    /// The call without what does not change with the features, which can be so large that the rest is lost.
    plain: AnyCall,
    weights: Vec<f64>,
    coordinates: Coordinates,
}

/// By how far numbers are moved.
const STEP: f64 = 1e-6;

impl<'a> Slopes<'a> {
    /// None where the reference takes too long, or where the out-of-bounds value hides the rest.
    fn new(call: &'a AnyCall, gradient: &OutputGradient) -> Option<Self> {
        let mut plain = call.clone();
        match &mut plain.operator {
            Operator::RoiAlign(config) if config.reduction == Reduction::Average => config.out_of_bounds_value = 0.0,
            Operator::RoiAlign(config) if config.out_of_bounds_value.abs() > 100.0 => return None,
            Operator::CropAndResize(config) => config.extrapolation_value = 0.0,
            _ => {}
        }
        let data = TensorData::new(call.output_gradient(gradient), call.output_shape(gradient));
        let weights: Vec<f64> = data.convert_dtype(gradient.dtype).iter::<f64>().collect();
        let coordinates = if call.dtype == DType::F64 { DOUBLE } else { SINGLE };
        let slopes = Self {
            call,
            plain,
            weights,
            coordinates,
        };
        slopes.at(&call.levels_on_host(), None)?;
        Some(slopes)
    }

    /// The sum of the output times its gradient; `boxes` in place of the call's where there are any.
    fn at(&self, levels: &Levels, boxes: Option<&[f64]>) -> Option<f64> {
        let mut regions = self.call.regions();
        if let Some(boxes) = boxes {
            for (region, corners) in regions.iter_mut().zip(boxes.as_chunks().0) {
                region.1 = *corners;
            }
        }
        value(&self.plain, levels, &regions, &self.weights, self.coordinates)
    }

    /// The slope of a value at 0; none at a jump or a bend, where both sides differ by more than half of `most`.
    fn slope(&self, value: impl Fn(f64) -> Option<f64>, most: f64) -> Option<f64> {
        let [before, here, after] = [value(-STEP)?, value(0.0)?, value(STEP)?];
        let (left, right) = ((here - before) / STEP, (after - here) / STEP);
        ((left - right).abs() <= most / 2.0).then_some((left + right) / 2.0)
    }
}

fn of_features(call: &AnyCall, slopes: &Slopes, found: &Gradients) -> Result<(), String> {
    // Equal pixels make bends, most often in bf16, which has few numbers. Two of opposite signs can look like none.
    // They do not in another direction, and a wrong gradient is wrong in both.
    of_features_along(call, slopes, found, 1000).or_else(|_| of_features_along(call, slopes, found, 2000))
}

fn of_features_along(call: &AnyCall, slopes: &Slopes, found: &Gradients, seed: u64) -> Result<(), String> {
    let levels = call.levels_on_host();
    let directions: Levels = (0..levels.len())
        .map(|level| random_direction(call.seed.wrapping_add(seed + level as u64), levels[level].len()))
        .collect();
    let moved = |step: f64| {
        let pairs = levels.iter().zip(&directions);
        slopes.at(&pairs.map(|(level, along)| moved(level, along, step)).collect(), None)
    };
    let (mut sum, mut size) = (0.0, 0.0);
    for (found, along) in found.features.iter().zip(&directions) {
        for (found, along) in found.iter::<f64>().zip(along) {
            sum += found * along;
            size += (found * along).abs();
        }
    }
    let of_sums = if call.dtype == DType::F64 { 1e-7 } else { 2e-5 };
    let most = of_sums * (slopes.weights.len() as f64 + size) + 2.0 * rounding(call.dtype) * size;
    match slopes.slope(moved, most) {
        Some(expected) if (sum - expected).abs() > most || sum.is_nan() => Err(format!(
            "the gradient of features is {sum} in a direction, not {expected}"
        )),
        _ => Ok(()),
    }
}

fn of_boxes(call: &AnyCall, slopes: &Slopes, found: &Gradients) -> Result<(), String> {
    let numbers: Vec<f64> = found.boxes.iter::<f64>().collect();
    // Coordinates in f32 jump as boxes move by a step. Of equal samples the first wins, and may move where another does
    // not: two at -0.5 and at 0 read the first pixel, and only the second moves.
    let takes_maximum = matches!(&call.operator, Operator::RoiAlign(config) if config.reduction != Reduction::Average);
    if call.dtype != DType::F64 || takes_maximum {
        return Ok(());
    }
    let (levels, boxes) = (call.levels_on_host(), call.boxes.clone());
    for row in 0..call.count() {
        let corners = &boxes[row * 4..row * 4 + 4];
        // A step is lost in larger numbers.
        if corners.iter().any(|corner| corner.abs() > 1e3) || !has_usual_options(&call.operator) {
            continue;
        }
        if has_sample_on_a_pixel(call, corners) {
            continue;
        }
        let mut along = vec![0.0; boxes.len()];
        along[row * 4..row * 4 + 4].copy_from_slice(&random_direction(call.seed.wrapping_add(row as u64), 4));
        let sum: f64 = numbers.iter().zip(&along).map(|(found, along)| found * along).sum();
        // A unit of a crop's box is a whole map.
        let most = 1e-4 * (1.0 + slopes.weights.len() as f64);
        let slope = slopes.slope(|step| slopes.at(&levels, Some(&moved(&boxes, &along, step))), most);
        if let Some(expected) = slope.filter(|expected| (sum - expected).abs() > most || sum.is_nan()) {
            return Err(format!(
                "the gradient of box {row} is {sum} in a direction, not {expected}"
            ));
        }
    }
    Ok(())
}

/// Whether a crop has a sample on a pixel. There TensorFlow's gradient is 0, whatever the slopes on both sides are.
fn has_sample_on_a_pixel(call: &AnyCall, corners: &[f64]) -> bool {
    let Operator::CropAndResize(config) = &call.operator else {
        return false;
    };
    let corners = std::array::from_fn(|column| corners[column]);
    let [_, _, height, width] = call.shape;
    let positions = positions_of_crop(config, corners, [height, width], DOUBLE);
    let on_a_pixel = |position: f64| (position - position.round()).abs() < 1e-9;
    positions
        .iter()
        .flatten()
        .flatten()
        .any(|&position| on_a_pixel(position))
}

/// Whether a step of a box moves its samples by about as much.
fn has_usual_options(operator: &Operator) -> bool {
    match operator {
        Operator::RoiAlign(config) => {
            let scales = [config.spatial_scale_y, config.spatial_scale_x];
            let offsets = [
                config.box_offset,
                config.end_offset,
                config.input_pixel_offset,
                config.output_pixel_offset,
            ];
            scales.iter().all(|scale| (1e-3..=4.0).contains(scale)) && offsets.iter().all(|offset| offset.abs() < 10.0)
        }
        Operator::PsRoiAlign(config) => (1e-3..=4.0).contains(&config.spatial_scale),
        Operator::PrRoiPool(config) => (1e-3..=4.0).contains(&config.spatial_scale),
        _ => true,
    }
}

fn random_direction(seed: u64, count: usize) -> Vec<f64> {
    random_numbers(seed, count).into_iter().map(f64::from).collect()
}

fn moved(numbers: &[f64], along: &[f64], step: f64) -> Vec<f64> {
    let pairs = numbers.iter().zip(along);
    pairs.map(|(number, along)| number + step * along).collect()
}

/// The largest error of a number that is rounded to the dtype, relative to it.
fn rounding(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1e-3,
        DType::BF16 => 8e-3,
        _ => 0.0,
    }
}
