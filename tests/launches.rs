//! What a call asks of a device: one launch, or one that plans and one that pools, also on a pyramid of up to four
//! levels, and no kernel that an earlier call has not compiled. The same of each gradient on one map.
//!
//! CubeCL compiles a kernel where it has not seen its identity yet, and tells both launches and
//! identities to whoever listens. It listens for the whole process, so this is one test.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_roi::primitive::Backward;
use burn_roi::*;
use cubecl::hash::StableHash;
use cubecl::launched::LaunchedKernels;
use cubecl::logging::{LaunchObservation, LaunchObserver};

#[path = "support/backends.rs"]
mod backends;

/// The names of the kernels that were launched.
#[derive(Default)]
struct Launches(Mutex<Vec<&'static str>>);

impl LaunchObserver for Launches {
    fn launched(&self, kernel: &'static str) {
        self.0.lock().expect("no panic").push(kernel);
    }
}

/// A problem whose sizes and values differ from another's in all that may change from call to call.
struct Problem {
    features: Tensor<4>,
    rois: Rois,
    rotated: RotatedRois,
    output_gradient: Tensor<4>,
    output_size: [usize; 2],
    scale: f64,
}

impl Problem {
    fn all(device: &Device, dtype: DType) -> Vec<Self> {
        let problem = |shape: [usize; 4], regions, output_size, scale| {
            let features = Tensor::<4>::random(shape, Distribution::Default, (device, dtype));
            let uniform = Distribution::Uniform(0.0, 20.0);
            let boxes = Tensor::<2>::random([regions, 4], uniform, (device, dtype));
            let [rows, columns]: [usize; 2] = output_size;
            let output = [regions, shape[1], rows, columns];
            Self {
                features,
                output_gradient: Tensor::random(output, Distribution::Default, (device, dtype)),
                rois: Rois::from_images(vec![boxes]),
                rotated: RotatedRois::from_images(vec![Tensor::random([regions, 5], uniform, (device, dtype))]),
                output_size,
                scale,
            }
        };
        let mut problems = vec![
            problem([1, 1, 3, 4], 1, [1, 1], 1.0),
            problem([1, 8, 16, 16], 1, [7, 7], 0.25),
            problem([2, 3, 40, 50], 3, [3, 14], 0.5),
            problem([1, 17, 20, 30], 300, [7, 7], 2.0),
        ];
        // Other strides.
        let mut last = problem([1, 5, 30, 20], 10, [2, 5], 1.5);
        last.features = last.features.swap_dims(2, 3);
        problems.push(last);
        problems
    }

    /// Whether there are fewer channels than a block's, eight, which another kernel computes.
    fn has_few_channels(&self) -> bool {
        self.features.dims()[1] < 8
    }
}

/// The launches of a call and the identities of their kernels.
fn observe<T>(device: &Device, call: impl FnOnce() -> T) -> (Vec<&'static str>, HashSet<StableHash>) {
    device.sync().expect("what was before should finish");
    let launches = Arc::new(Launches::default());
    let observation = LaunchObservation::new(launches.clone());
    let kernels = LaunchedKernels::new();
    let output = call();
    device.sync().expect("the call should finish");
    let kernels = kernels.finish().into_iter().collect();
    drop((observation, output));
    let names = launches.0.lock().expect("no panic").clone();
    (names, kernels)
}

#[test]
fn a_call_is_one_launch_of_a_kernel_that_no_size_or_value_changes() {
    let backends = backends::backends();
    for backend in backends.iter().filter(|backend| !backend.is_host()) {
        check_pyramids(&backend.device);
        check_kept_positions(&backend.device);
        let dtypes = [DType::F32, DType::F16];
        for dtype in dtypes.into_iter().filter(|dtype| backend.supports(*dtype)) {
            let problems = Problem::all(&backend.device, dtype);
            let mut of_dtype = HashSet::new();
            for (name, operator, launches) in operators() {
                let (few, many): (Vec<_>, Vec<_>) = problems.iter().partition(|problem| problem.has_few_channels());
                for problems in [few, many] {
                    let mut of_operator = HashSet::new();
                    for problem in problems {
                        let (names, kernels) = observe(&backend.device, || operator(problem));
                        let of = format!("{}: {name} {dtype:?}", backend.name);
                        assert_eq!(names.len(), launches, "{of} launches {names:?}");
                        of_operator.extend(kernels);
                        assert_eq!(of_operator.len(), launches, "{of} has another kernel");
                    }
                    of_dtype.extend(of_operator);
                }
            }
            for (name, gradient, launches) in gradients() {
                let (few, many): (Vec<_>, Vec<_>) = problems.iter().partition(|problem| problem.has_few_channels());
                for (problems, launches) in [few, many].into_iter().zip(launches) {
                    let mut of_gradient = HashSet::new();
                    let of = format!("{}: the gradient of {name} {dtype:?}", backend.name);
                    for problem in problems {
                        let (names, kernels) = observe(&backend.device, || gradient(problem));
                        assert_eq!(names.len(), launches, "{of} launches {names:?}");
                        of_gradient.extend(kernels);
                        assert_eq!(of_gradient.len(), launches, "{of} has another kernel");
                    }
                }
            }
            for problem in &problems {
                let (names, kernels) = observe(&backend.device, || pyramid(problem));
                // Nothing is copied first, and no level's result is apart.
                assert_eq!(names.len(), 2, "{}: {names:?}", backend.name);
                of_dtype.extend(kernels);
            }
            // By rows: the average, that of a pyramid, and the maximum. Of samples: the maximum, and the maximum of
            // weighted corners. Of points: the average, and that of channels of its own. Each for few channels and for
            // many.
            let for_few_and_many = 2 * 7;
            // The average of elements that have channels of their own: of one channel in all problems.
            let for_few = 1;
            // The plans of samples, of a pyramid, of boxes whose y comes first, of bins and of integrals.
            let plans = 5;
            assert_eq!(
                of_dtype.len(),
                for_few_and_many + for_few + plans,
                "{} {dtype:?}",
                backend.name
            );
        }
    }
}

type Gradient = Box<dyn Fn(&Problem) -> DispatchTensor>;

/// Gradients of features and of boxes, and how many kernels each launches: where channels are few, and where they are
/// many.
fn gradients() -> Vec<(&'static str, Gradient, [usize; 2])> {
    fn align(problem: &Problem, reduction: Reduction) -> Backward<Dispatch> {
        let config = RoiAlignConfig::new(problem.output_size).with_spatial_scale(problem.scale);
        primitive::backward::<Dispatch>(
            problem.output_gradient.clone().into_dispatch(),
            problem.features.clone().into_dispatch(),
            (&problem.rois).into(),
            config.with_reduction(reduction),
        )
    }
    fn precise(problem: &Problem) -> Backward<Dispatch> {
        let config = PrRoiPoolConfig::new(problem.output_size).with_spatial_scale(problem.scale);
        primitive::backward::<Dispatch>(
            problem.output_gradient.clone().into_dispatch(),
            problem.features.clone().into_dispatch(),
            (&problem.rois).into(),
            config,
        )
    }
    fn rotated(problem: &Problem) -> Backward<Dispatch> {
        let config = RoiAlignRotatedConfig::new(problem.output_size).with_spatial_scale(problem.scale);
        primitive::backward::<Dispatch>(
            problem.output_gradient.clone().into_dispatch(),
            problem.features.clone().into_dispatch(),
            (&problem.rotated).into(),
            config,
        )
    }
    // One finds where regions may read, one marks the tiles that they reach, and one gathers. Where channels are many,
    // one more moves them next to each other.
    let gathered = [3, 4];
    vec![
        (
            "rotated boxes' features",
            Box::new(|problem| rotated(problem).features()),
            gathered,
        ),
        ("rotated boxes", Box::new(|problem| rotated(problem).boxes()), [1, 1]),
        (
            "an integral's features",
            Box::new(|problem| precise(problem).features()),
            gathered,
        ),
        (
            "an integral's boxes",
            Box::new(|problem| precise(problem).boxes()),
            [1, 1],
        ),
        (
            "an average's features",
            Box::new(|problem| align(problem, Reduction::Average).features()),
            gathered,
        ),
        (
            "an average's boxes",
            Box::new(|problem| align(problem, Reduction::Average).boxes()),
            [1, 1],
        ),
        (
            "a maximum's features",
            Box::new(|problem| align(problem, Reduction::Max).features()),
            // The first finds where each maximum was read.
            [4, 5],
        ),
        (
            "a maximum's boxes",
            Box::new(|problem| align(problem, Reduction::Max).boxes()),
            [1, 1],
        ),
    ]
}

/// A pyramid of four levels, all of the same map.
fn pyramid(problem: &Problem) -> Tensor<4> {
    levels(problem, 4, |config| config)
}

fn levels(
    problem: &Problem,
    count: usize,
    change: fn(MultiScaleRoiAlignConfig) -> MultiScaleRoiAlignConfig,
) -> Tensor<4> {
    let levels = vec![problem.features.clone(); count];
    let scales: Vec<f64> = (0..count).map(|level| 1.0 / f64::from(1 << level)).collect();
    let config = torchvision::MultiScaleRoiAlign::new(problem.output_size);
    multi_scale_roi_align(levels, &problem.rois, &scales, change(config.into()))
}

/// A pyramid is planned and pooled at once, or level by level.
fn check_pyramids(device: &Device) {
    let problem = &Problem::all(device, DType::F32)[0];
    for (count, launches) in [(1, 2), (2, 2), (3, 2), (5, 10)] {
        let (names, _) = observe(device, || levels(problem, count, |config| config));
        assert_eq!(names.len(), launches, "{count} levels launch {names:?}");
    }
    // The first writes what a box without a level gets.
    let (names, _) = observe(device, || levels(problem, 2, |config| config.with_pools_empty(false)));
    assert_eq!(names.len(), 5, "{names:?}");
}

/// An autodiff device keeps where each maximum of pixels was read, and its backward pass does not look again.
fn check_kept_positions(device: &Device) {
    let (features, rois) = {
        let device = device.clone().autodiff();
        let boxes = Tensor::<2>::random([9, 4], Distribution::Uniform(0.0, 20.0), &device);
        let features = Tensor::<4>::random([1, 17, 20, 30], Distribution::Default, &device);
        (features.require_grad(), Rois::from_images(vec![boxes]))
    };
    let config = RoiPoolConfig::new([7, 7]).with_spatial_scale(0.5);
    let mut output = None;
    let (forward, _) = observe(device, || output = Some(roi_pool(features.clone(), &rois, config)));
    assert_eq!(forward.len(), 2, "{forward:?}");
    let output = output.expect("it was computed").sum();
    let (backward, _) = observe(device, || features.grad(&output.backward()).expect("a gradient"));
    let count = |part: &str| backward.iter().filter(|name| name.contains(part)).count();
    let found = [
        "PoolRows",
        "PlanRegions",
        "MoveChannelsLast",
        "MarkRegions",
        "GatherAxes",
    ]
    .map(count);
    // Positions are moved besides the gradient.
    assert_eq!(found, [0, 1, 2, 1, 1], "{backward:?}");
}

/// The features with their first channel seen as one channel for each output element, which copies nothing.
fn position_sensitive(problem: &Problem) -> Tensor<4> {
    let [images, _, height, width] = problem.features.dims();
    let [rows, columns] = problem.output_size;
    let first = problem.features.clone().slice_dim(1, 0..1);
    first.expand([images, rows * columns, height, width])
}

type Operator = Box<dyn Fn(&Problem) -> Tensor<4>>;

/// All reductions, and every framework whose geometry differs, and how many kernels each launches.
fn operators() -> Vec<(&'static str, Operator, usize)> {
    let align = |change: fn(RoiAlignConfig) -> RoiAlignConfig| -> Operator {
        Box::new(move |problem| {
            let config = RoiAlignConfig::new(problem.output_size).with_spatial_scale(problem.scale);
            roi_align(problem.features.clone(), &problem.rois, change(config))
        })
    };
    vec![
        ("adaptive", align(|config| config), 2),
        (
            "fixed",
            align(|config| config.with_sampling_ratio(2).with_aligned(true)),
            2,
        ),
        ("maximum", align(|config| config.with_reduction(Reduction::Max)), 1),
        (
            "maximum from zero",
            align(|config| config.with_reduction(Reduction::MaxFromZero)),
            1,
        ),
        (
            "maximum of weighted corners",
            align(|config| config.with_reduction(Reduction::MaxOfWeightedCorners)),
            1,
        ),
        (
            "pool",
            Box::new(|problem| {
                let config = RoiPoolConfig::new(problem.output_size).with_spatial_scale(problem.scale);
                roi_pool(problem.features.clone(), &problem.rois, config)
            }),
            2,
        ),
        (
            "position-sensitive align",
            Box::new(|problem| {
                let features = position_sensitive(problem);
                let config = PsRoiAlignConfig::new(problem.output_size).with_spatial_scale(problem.scale);
                ps_roi_align(features, &problem.rois, config)
            }),
            2,
        ),
        (
            "position-sensitive pool",
            Box::new(|problem| {
                let features = position_sensitive(problem);
                let config = PsRoiPoolConfig::new(problem.output_size).with_spatial_scale(problem.scale);
                ps_roi_pool(features, &problem.rois, config)
            }),
            2,
        ),
        (
            "precise pool",
            Box::new(|problem| {
                let config = PrRoiPoolConfig::new(problem.output_size).with_spatial_scale(problem.scale);
                prroi_pool(problem.features.clone(), &problem.rois, config)
            }),
            2,
        ),
        (
            "rotated",
            Box::new(|problem| {
                let config = RoiAlignRotatedConfig::new(problem.output_size).with_spatial_scale(problem.scale);
                roi_align_rotated(problem.features.clone(), &problem.rotated, config)
            }),
            1,
        ),
        (
            "crops of one part",
            Box::new(|problem| {
                let config = PsCropAndResizeConfig::new(problem.output_size, [1, 1]);
                ps_crop_and_resize(problem.features.clone(), &problem.rois, config)
            }),
            1,
        ),
        (
            "crop",
            Box::new(|problem| {
                let config = CropAndResizeConfig::new(problem.output_size);
                crop_and_resize(problem.features.clone(), &problem.rois, config)
            }),
            2,
        ),
    ]
}
