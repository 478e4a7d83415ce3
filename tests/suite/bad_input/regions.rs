//! Boxes and batch indices of a wrong shape or dtype, or on another device.

use super::*;

#[test]
fn shapes_of_regions() {
    on_every_backend(|backend| {
        let device = &backend.device;
        let boxes = |shape: [usize; 2]| Tensor::<2>::zeros(shape, device);
        let indices = |count: usize| Tensor::<1, Int>::zeros([count], device);

        let text = "`boxes` has shape [2, 3], but must have shape [K, 4], with up to two leading \
                    dimensions of 1";
        refuses(text, || Rois::try_new(boxes([2, 3]), indices(2)));
        panics(text, || Rois::new(boxes([2, 3]), indices(2)));
        let text = "`boxes` has shape [8], but must have shape [K, 4], with up to two leading \
                    dimensions of 1";
        refuses(text, || Rois::try_new(Tensor::<1>::zeros([8], device), indices(2)));
        let text = "`boxes` has shape [2, 1, 4], but must have shape [K, 4], with up to two leading \
                    dimensions of 1";
        refuses(text, || {
            Rois::try_new(Tensor::<3>::zeros([2, 1, 4], device), indices(2))
        });
        let text = "`boxes` has shape [1, 1, 1, 2, 4], but must have shape [K, 4], with up to two \
                    leading dimensions of 1";
        refuses(text, || {
            Rois::try_new(Tensor::<5>::zeros([1, 1, 1, 2, 4], device), indices(2))
        });
        let text = "`batch_indices` has shape [2, 1], but must have shape [K], with up to three leading \
                    dimensions of 1";
        refuses(text, || {
            Rois::try_new(boxes([2, 4]), Tensor::<2, Int>::zeros([2, 1], device))
        });
        let text = "`boxes` has 2 rows and `batch_indices` has 3, but both must have one for each region";
        refuses(text, || Rois::try_new(boxes([2, 4]), indices(3)));
        panics(text, || Rois::new(boxes([2, 4]), indices(3)));
        let text = "`boxes` has shape [2, 4], but must have shape [K, 5], with up to two leading \
                    dimensions of 1";
        refuses(text, || Rois::try_from_index_first(boxes([2, 4])));
        panics(text, || Rois::from_index_first(boxes([2, 4])));
        let text = "`boxes` has shape [2, 5], but must have shape [K, 4]";
        refuses(text, || Rois::try_from_images(vec![boxes([2, 4]), boxes([2, 5])]));
        panics(text, || Rois::from_images(vec![boxes([2, 4]), boxes([2, 5])]));
        let text = "`boxes` is an empty list, but must have one entry for each image";
        refuses(text, || Rois::try_from_images(vec![]));
    });
}

#[test]
fn shapes_by_type_parameter() {
    use burn::backend::Dispatch;
    on_every_backend(|backend| {
        let device = &backend.device;
        let call = |features: burn::backend::DispatchTensor, boxes: [usize; 2], count: usize| {
            let boxes = Tensor::<2>::zeros(boxes, device).into_dispatch();
            let indices = Tensor::<1, Int>::zeros([count], device).into_dispatch();
            let regions = primitive::RegionTensors::new(boxes, indices);
            primitive::try_pool::<Dispatch>(features, regions, RoiAlignConfig::new([2, 3]))
        };
        let features = || Tensor::<4>::zeros([1, 2, 3, 4], device).into_dispatch();
        let flat = || Tensor::<3>::zeros([2, 3, 4], device).into_dispatch();
        let text = "`features` has shape [2, 3, 4], but must have shape [N, C, H, W]";
        refuses(text, || call(flat(), [1, 4], 1));
        let text = "`boxes` has shape [1, 5], but must have shape [K, 4]";
        refuses(text, || call(features(), [1, 5], 1));
        let text = "`boxes` has 2 rows and `batch_indices` has 1, but both must have one for each region";
        refuses(text, || call(features(), [2, 4], 1));
        assert!(call(features(), [1, 4], 1).is_ok());
        let text = "`offsets` is [1, 2, 2, 3], but must be none: this operator takes no offsets";
        let regions = primitive::RegionTensors::from(&Rois::from_images(vec![Tensor::zeros([1, 4], device)]))
            .with_offsets(Tensor::<4>::zeros([1, 2, 2, 3], device).into_dispatch());
        refuses(text, || {
            primitive::try_pool::<Dispatch>(features(), regions.clone(), RoiAlignConfig::new([2, 3]))
        });
    });
}

#[test]
fn boxes_of_another_dtype() {
    on_every_backend(|backend| {
        let dtypes = [DType::F16, DType::F64];
        let Some(other) = dtypes.into_iter().find(|dtype| backend.supports(*dtype)) else {
            return;
        };
        let mut call = Call::new(&backend.device);
        call.rois = Rois::new(call.rois.boxes().cast(other), call.rois.batch_indices());
        call.all_refuse(&format!(
            "`boxes` is of dtype {other:?}, but must be of F32, as `features` is"
        ));
    });
}

#[test]
fn regions_on_another_device() {
    let backends = backends();
    let Some(two) = backends.get(..2) else {
        return;
    };
    for (features, regions) in [(&two[0], &two[1]), (&two[1], &two[0])] {
        let (features, regions) = (&features.device, &regions.device);
        let mut call = Call::new(features);
        call.rois = Call::new(regions).rois;
        let place = |device: &Device| format!("{:?}", device.as_dispatch());
        let text = format!(
            "`boxes` is on device {}, but must be on {}, as `features` is",
            place(regions),
            place(features)
        );
        let boxes = call.rois.boxes();
        call.all_refuse(&text);
        let indices = Tensor::<1, Int>::zeros([2], features);
        let error = Rois::try_new(boxes, indices).expect_err("two devices");
        assert!(matches!(
            error,
            RoiError::Device {
                argument: "batch_indices",
                ..
            }
        ));
    }
}
