//! How the plan of a region lies in memory, as words of 32 bits.
//!
//! A region has a header, then three words for each element along y and along x, then the taps along y and along x. A
//! tap is a pixel along an axis, and its weight. Weights and shares are the bits of an f32.
//!
//! Words of a kind lie next to each other: those of the elements of an axis, and the pixels and the weights of its
//! taps. Neighbouring units read what neighbouring elements have, so that they ask for fewer sectors of memory.

use cubecl::prelude::*;

use crate::geometry::operator::{Elements, RegionOperator};
use crate::geometry::options::Sampling;
use crate::geometry::real::single::between::Reach;

/// The level of a region that is on none of the maps.
pub const NO_LEVEL: u32 = u32::MAX;

/// Level, image, and the first pixel and the one after the last, along y and along x.
pub const HEADER: usize = 6;

/// The number of its first tap among those of its axis, how many it has, and its share.
const ELEMENT: usize = 3;

/// How many pixels two neighbouring elements may both read. Samples and bins of the bilinear map share two, and a third
/// where two positions that should be equal are rounded apart.
const SHARED_PIXELS: usize = 3;

/// How the plans of a call lie in memory.
#[derive(CubeType, CubeLaunch)]
pub struct PlanLayout {
    /// The words of a region.
    pub words: usize,
    pub y: AxisLayout,
    pub x: AxisLayout,
}

/// How the elements of an axis lie in the plan of a region.
#[derive(CubeType, CubeLaunch)]
pub struct AxisLayout {
    /// How many there are.
    pub elements: u32,
    /// The word of the first element.
    headers: u32,
    /// The word of the first tap's pixel, and the distance from a tap's pixel to its weight.
    pub taps: u32,
    weights: u32,
    /// How many taps each element has room for. 0 if an element's taps have a place of their own by their first pixel,
    /// which takes less room where an element may read all of the map.
    pub of_element: u32,
}

/// The layout along y or along x.
#[cube]
pub fn axis_of(layout: &PlanLayout, is_y: bool) -> AxisLayout {
    let (y, x) = (&layout.y, &layout.x);
    AxisLayout {
        elements: select(is_y, y.elements, x.elements),
        headers: select(is_y, y.headers, x.headers),
        taps: select(is_y, y.taps, x.taps),
        weights: select(is_y, y.weights, x.weights),
        of_element: select(is_y, y.of_element, x.of_element),
    }
}

/// The same, as the host knows it.
pub struct Words {
    pub of_region: usize,
    headers: [usize; 2],
    taps: [usize; 2],
    weights: [usize; 2],
    of_element: [usize; 2],
    elements: [usize; 2],
    largest_map: [usize; 2],
}

impl Words {
    /// How the plans of an operator lie in memory, for maps up to this height and width.
    pub fn new(operator: &RegionOperator, largest_map: [usize; 2]) -> Self {
        let elements = operator.output_size;
        let (mut taps, mut of_element) = ([0; 2], [0; 2]);
        for axis in 0..2 {
            let count = elements[axis];
            // One more place behind the last element.
            let by_pixel = largest_map[axis] + SHARED_PIXELS * (count + 1);
            taps[axis] = by_pixel;
            if let Some(most) = most_taps(operator, axis).filter(|most| most.saturating_mul(count) <= by_pixel) {
                of_element[axis] = most;
                taps[axis] = most * count;
            }
        }
        let headers = [HEADER, HEADER + ELEMENT * elements[0]];
        let first = headers[1] + ELEMENT * elements[1];
        Self {
            of_region: first + 2 * (taps[0] + taps[1]),
            headers,
            taps: [first, first + 2 * taps[0]],
            weights: taps,
            of_element,
            elements,
            largest_map,
        }
    }

    /// How many columns of pixels a row of elements reads at most, if that does not depend on its region.
    pub fn columns(&self) -> Option<usize> {
        let taps = self.elements[1] * self.of_element[1];
        (taps > 0).then_some(taps.min(self.largest_map[1]))
    }

    pub fn launch(&self) -> PlanLayoutLaunch {
        let axis = |axis: usize| {
            AxisLayoutLaunch::new(
                self.elements[axis] as u32,
                self.headers[axis] as u32,
                self.taps[axis] as u32,
                self.weights[axis] as u32,
                self.of_element[axis] as u32,
            )
        };
        PlanLayoutLaunch::new(self.of_region, axis(0), axis(1))
    }
}

/// The layout of headers without elements.
pub fn header_layout() -> PlanLayoutLaunch {
    let none = || AxisLayoutLaunch::new(0, 0, 0, 0, 0);
    PlanLayoutLaunch::new(HEADER, none(), none())
}

/// How many pixels an element reads at most, if that does not depend on its region.
fn most_taps(operator: &RegionOperator, axis: usize) -> Option<usize> {
    let Elements::Samples(axes) = &operator.elements else {
        return None;
    };
    match axes[axis].sampling {
        Sampling::Fixed(samples) | Sampling::Clamped { maximum: samples, .. } => Some(samples.saturating_mul(2)),
        Sampling::Adaptive | Sampling::AdaptiveFloor => None,
    }
}

/// Where a region reads.
#[derive(CubeType)]
pub struct PlannedRegion {
    /// The first word of its plan.
    pub start: usize,
    pub level: u32,
    pub image: usize,
    /// Pixels along y and along x. No element reads one outside.
    pub y: Reach,
    pub x: Reach,
}

#[cube]
pub fn reach(first: u32, end: u32) -> Reach {
    Reach { first, end }
}

#[cube]
pub fn planned_region(plans: &Tensor<u32>, region: usize, layout: &PlanLayout) -> PlannedRegion {
    let start = region * layout.words;
    PlannedRegion {
        start,
        level: plans[start],
        image: plans[start + 1] as usize,
        y: reach(plans[start + 2], plans[start + 3]),
        x: reach(plans[start + 4], plans[start + 5]),
    }
}

/// Writes the header of a region.
#[cube]
pub fn write_region(plans: &mut Tensor<u32>, start: usize, level: u32, image: usize, y: &Reach, x: &Reach) {
    plans[start] = level;
    plans[start + 1] = image as u32;
    plans[start + 2] = y.first;
    plans[start + 3] = y.end;
    plans[start + 4] = x.first;
    plans[start + 5] = x.end;
}

/// What an element reads along an axis.
#[derive(CubeType)]
pub struct PlannedElement {
    /// The word of its first tap's pixel, and the distance from a tap's pixel to its weight.
    start: usize,
    weights: usize,
    /// The number of its first tap among those of its axis.
    pub number: u32,
    pub taps: u32,
    /// The share of it that lies on the map.
    pub share: f32,
}

/// What an element of the region whose plan begins at `start` reads.
#[cube]
pub fn planned_element(plans: &Tensor<u32>, start: usize, axis: &AxisLayout, element: u32) -> PlannedElement {
    let header = header_of_element(start, axis, element);
    let step = axis.elements as usize;
    let number = plans[header];
    PlannedElement {
        start: start + (axis.taps + number) as usize,
        weights: axis.weights as usize,
        number,
        taps: plans[header + step],
        share: f32::reinterpret(plans[header + 2usize * step]),
    }
}

/// The word with the number of an element's first tap. If the axis has n elements, n words later is how many taps this
/// one has, and 2n words later its share.
#[cube]
fn header_of_element(start: usize, axis: &AxisLayout, element: u32) -> usize {
    start + (axis.headers + element) as usize
}

#[cube]
pub fn pixel_of_tap(plans: &Tensor<u32>, element: &PlannedElement, tap: u32) -> u32 {
    plans[element.start + tap as usize]
}

#[cube]
pub fn weight_of_tap(plans: &Tensor<u32>, element: &PlannedElement, tap: u32) -> f32 {
    f32::reinterpret(plans[element.start + element.weights + tap as usize])
}

/// The taps of an element, while they are written.
#[derive(CubeType)]
pub struct TapWriter {
    start: usize,
    weights: usize,
    number: u32,
    taps: u32,
}

/// Writes taps of an element whose least pixel is `first`. `order` is its number among the elements of its axis, if
/// these are counted from the least pixels to the greatest.
#[cube]
pub fn tap_writer(start: usize, axis: &AxisLayout, element: u32, order: u32, first: u32) -> TapWriter {
    let mut number = element * axis.of_element;
    if axis.of_element == 0u32 {
        number = first + order * comptime!(SHARED_PIXELS as u32);
    }
    TapWriter {
        start: start + (axis.taps + number) as usize,
        weights: axis.weights as usize,
        number,
        taps: 0u32,
    }
}

#[cube]
pub fn write_tap(plans: &mut Tensor<u32>, writer: &mut TapWriter, pixel: u32, weight: f32) {
    let word = writer.start + writer.taps as usize;
    plans[word] = pixel;
    plans[word + writer.weights] = u32::reinterpret(weight);
    writer.taps += 1u32;
}

/// Writes what is left of an element, when all of its taps are written.
#[cube]
pub fn end_element(
    plans: &mut Tensor<u32>,
    start: usize,
    axis: &AxisLayout,
    element: u32,
    writer: &mut TapWriter,
    share: f32,
) {
    let header = header_of_element(start, axis, element);
    let step = axis.elements as usize;
    plans[header] = writer.number;
    plans[header + step] = writer.taps;
    plans[header + 2usize * step] = u32::reinterpret(share);
    // Where the pixels of taps are read without looking at elements, each must be a pixel of the map.
    while writer.taps < axis.of_element {
        write_tap(plans, writer, 0u32, 0.0f32);
    }
}
