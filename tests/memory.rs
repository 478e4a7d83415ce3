//! What a call, and its gradients, take beyond input and output on the host.

use std::cell::RefCell;

use burn::backend::Dispatch;
use burn::tensor::{Device, Distribution, Tensor};
use burn_roi::primitive::Backward;
use burn_roi::*;
use peak_alloc::PeakAlloc;

#[path = "support/backends.rs"]
mod backends;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

const MIB: f32 = 1024.0 * 1024.0;

/// What a call takes beyond what is there before it and its output, in MiB, and the output.
fn most_memory(call: impl Fn() -> Tensor<4>) -> (f32, Tensor<4>) {
    PEAK.reset_peak_usage();
    let before = PEAK.current_usage() as f32;
    let output = call();
    let bytes = output.shape().num_elements() * 4;
    let peak = PEAK.peak_usage() as f32;
    ((peak - before - bytes as f32) / MIB, output)
}

/// One test, since the allocator counts for the whole process.
#[test]
fn memory_is_bounded_at_any_number_of_regions() {
    for backend in backends::backends().iter().filter(|backend| backend.is_host()) {
        let device = &backend.device;
        // The same regions in every run: a run that fails can be repeated.
        device.seed(14);
        // On Flex 16 MiB, of which each of two threads may have kept 1 from earlier calls. NdArray is slow, and has
        // fewer channels: with these too, all samples at once would be beyond its limit.
        let (most, channels) = if backend.name == "flex" {
            (14.0, 64)
        } else {
            (256.0, 16)
        };
        // An output that is dropped leaves its memory to the next, which would then seem to take none.
        let outputs = RefCell::new(Vec::new());
        let check = |name: &str, most: f32, call: &dyn Fn() -> Tensor<4>| {
            let (taken, output) = most_memory(call);
            outputs.borrow_mut().push(output);
            println!("{}: {name} takes {taken:.1} MiB", backend.name);
            assert!(taken <= most, "{}: {name} takes {taken} MiB", backend.name);
        };

        let features = Tensor::<4>::random([1, channels, 200, 200], Distribution::Default, device);
        let align = RoiAlignConfig::new([7, 7]);
        let largest = align.clone().with_reduction(Reduction::Max);
        let rois = random_regions(2000, device);
        check("an average of 2000 regions", most, &|| {
            roi_align(features.clone(), &rois, align.clone())
        });
        check("bins of 2000 regions", most, &|| {
            roi_pool(features.clone(), &rois, RoiPoolConfig::new([7, 7]))
        });
        let few = random_regions(200, device);
        check("a maximum of 200 regions", most, &|| {
            roi_align(features.clone(), &few, largest.clone())
        });
        // All samples of 16 channels at once would be 320 * 320 * 49 * 16 numbers, 306 MiB. Flex has 64.
        let dense = largest.with_sampling_ratio(if backend.name == "flex" { 160 } else { 320 });
        let one = random_regions(1, device);
        check("thousands of samples an element", most, &|| {
            roi_align(features.clone(), &one, dense.clone())
        });

        if backend.name == "flex" {
            // Plans of all regions at once would be 500 * 401 * 4 * 32 bytes, 24 MiB.
            let one_channel = features.clone().narrow(1, 0, 1);
            let many = random_regions(500, device);
            let tall = RoiAlignConfig::new([400, 1])
                .with_reduction(Reduction::Max)
                .with_sampling_ratio(4);
            check("a maximum of 500 regions in 400 rows", most, &|| {
                roi_align(one_channel.clone(), &many, tall.clone())
            });
        }

        if backend.name == "ndarray" {
            // What is held of each bin at once would be 1000 * 50 * 50 * 64 bytes, 153 MiB, and takes 71.
            let one_channel = features.clone().narrow(1, 0, 1);
            let many = random_regions(1000, device);
            check("many bins of 1000 regions", 110.0, &|| {
                roi_pool(one_channel.clone(), &many, RoiPoolConfig::new([50, 50]))
            });
        }

        // Were a level's results apart, they would be as large as the output, on Flex 24 MiB.
        let pyramid: Vec<_> = [200, 100, 50, 25]
            .map(|side| features.clone().narrow(2, 0, side).narrow(3, 0, side))
            .into();
        let config = torchvision::MultiScaleRoiAlign::new([7, 7]).with_canonical_scale(100.0);
        let config = config.with_canonical_level(1);
        check("a pyramid of four levels", most, &|| {
            let scales = [1.0, 0.5, 0.25, 0.125];
            multi_scale_roi_align(pyramid.clone(), &rois, &scales, config.clone())
        });

        if backend.name == "flex" {
            // Eight channels of the output side by side would be 32 MiB for each thread.
            let large = RoiAlignConfig::new([1024, 1024]).with_sampling_ratio(1);
            let few = features.clone().narrow(1, 0, 16);
            check("an output of 1024 x 1024", most, &|| {
                roi_align(few.clone(), &one, large.clone())
            });
        }

        if backend.name == "flex" {
            // The pooled slices would be 300 * 64 * 16 * 49 numbers, 57 MiB, and the output is 25 MiB. A maximum of
            // samples is computed in parts of 32 MiB, of which it takes copies, and put together of them.
            let volume = Tensor::<5>::random([1, channels, 16, 50, 50], Distribution::Default, device);
            let numbers = Distribution::Uniform(0.0, 25.0);
            let corners = Tensor::<2>::random([300, 3], numbers, device);
            let boxes = Tensor::cat(vec![corners.clone(), corners + 25.0], 1);
            let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Zyxzyx);
            let config = RoiAlign3dConfig::new([7, 7, 7]).with_sampling_ratio(1);
            for (reduction, most) in [(Reduction::Average, 16.0), (Reduction::Max, 88.0)] {
                check("a volume", most, &|| {
                    let config = config.clone().with_reduction(reduction);
                    roi_align_3d(volume.clone(), &rois, config).flatten::<4>(3, 4)
                });
            }
        }

        let gradient = Tensor::<4>::ones([2000, channels, 7, 7], device);
        check("the gradient of an average of 2000 regions", most, &|| {
            features_gradient(&gradient, &features, &rois, align.clone())
        });
        let of_few = gradient.clone().narrow(0, 0, 200);
        let largest = align.clone().with_reduction(Reduction::Max);
        check("the gradient of a maximum of 200 regions", most, &|| {
            features_gradient(&of_few, &features, &few, largest.clone())
        });
        check("the gradient of bins of 200 regions", most, &|| {
            let (gradient, features) = (of_few.clone().into_dispatch(), features.clone().into_dispatch());
            let config = RoiPoolConfig::new([7, 7]);
            let backward = primitive::backward::<Dispatch>(gradient, features, (&few).into(), config);
            Tensor::from_dispatch(backward.features())
        });
        check("the gradient of 200 boxes", most, &|| {
            let boxes = Tensor::<2>::from_dispatch(backward(&of_few, &features, &few, align.clone()).boxes());
            boxes.unsqueeze()
        });

        // Regions are 200 pixels wide at most, and the weights of one fill that.
        let rotated = Tensor::<2>::random([300, 5], Distribution::Uniform(0.0, 200.0), device);
        let rotated = RotatedRois::from_images(vec![rotated]);
        let config = RoiAlignRotatedConfig::new([7, 7]);
        check("300 rotated boxes", most, &|| {
            roi_align_rotated(features.clone(), &rotated, config.clone())
        });
        let by_hand = |gradient: &Tensor<4>, rotated: &RotatedRois| {
            let (gradient, features) = (gradient.clone().into_dispatch(), features.clone().into_dispatch());
            primitive::backward::<Dispatch>(gradient, features, rotated.into(), config.clone())
        };
        check("the gradient of features of 300 rotated boxes", most, &|| {
            Tensor::from_dispatch(by_hand(&gradient.clone().narrow(0, 0, 300), &rotated).features())
        });
        let few_rotated = RotatedRois::from_images(vec![rotated.boxes().narrow(0, 0, 50)]);
        check("the gradient of 50 rotated boxes", most, &|| {
            Tensor::<2>::from_dispatch(by_hand(&gradient.clone().narrow(0, 0, 50), &few_rotated).boxes()).unsqueeze()
        });

        // Columns that are not neighbours are copied once, at most 10 MiB.
        let transposed = features.swap_dims(2, 3);
        check("transposed features", most + 10.0, &|| {
            roi_align(transposed.clone(), &few, align.clone())
        });
    }
}

fn backward(gradient: &Tensor<4>, features: &Tensor<4>, rois: &Rois, config: RoiAlignConfig) -> Backward<Dispatch> {
    let (gradient, features) = (gradient.clone().into_dispatch(), features.clone().into_dispatch());
    primitive::backward::<Dispatch>(gradient, features, rois.into(), config)
}

fn features_gradient(gradient: &Tensor<4>, features: &Tensor<4>, rois: &Rois, config: RoiAlignConfig) -> Tensor<4> {
    Tensor::from_dispatch(backward(gradient, features, rois, config).features())
}

fn random_regions(count: usize, device: &Device) -> Rois {
    let boxes = Tensor::<2>::random([count, 4], Distribution::Uniform(0.0, 200.0), device);
    Rois::from_images(vec![boxes])
}
