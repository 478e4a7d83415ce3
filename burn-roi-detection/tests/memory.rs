//! What files and masks take beyond input and output on the host.

use burn::tensor::{Distribution, Tensor};
use burn_roi_detection::weights::detectron2::Checkpoint;
use burn_roi_detection::{paste_masks_as_run_lengths, paste_masks_in_image};
use peak_alloc::PeakAlloc;

#[path = "../../tests/support/backends.rs"]
mod backends;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

const MIB: f32 = 1024.0 * 1024.0;

/// What a call takes at most beyond what is there before it, in MiB, and what it gives.
fn most_memory<T>(call: impl FnOnce() -> T) -> (f32, T) {
    PEAK.reset_peak_usage();
    let before = PEAK.current_usage() as f32;
    let given = call();
    ((PEAK.peak_usage() as f32 - before) / MIB, given)
}

/// One test, since the allocator counts for the whole process.
#[test]
fn files_and_masks_take_memory_by_their_size() {
    files_take_memory_by_their_size();
    #[cfg(feature = "train")]
    masks_of_a_sample_take_memory_by_their_outlines();
    for backend in backends::backends().iter().filter(|backend| backend.is_host()) {
        let device = &backend.device;
        // The same masks in every run: a run that fails can be repeated.
        device.seed(14);
        // A result of 92 MiB. The window of the first mask is the image, 9 MiB.
        let masks = Tensor::<4>::random([10, 1, 28, 28], Distribution::Default, device);
        let whole_image = Tensor::<2>::from_floats([[0.0, 0.0, 2000.0, 1200.0]], device);
        let small = Tensor::<2>::from_floats([[5.0, 7.0, 50.0, 70.0]], device).repeat(&[9, 1]);
        let boxes = Tensor::cat(vec![whole_image, small], 0);
        let (taken, pasted) = most_memory(|| paste_masks_in_image(masks.clone(), boxes.clone(), [1200, 2000], 1));
        let taken = taken - pasted.shape().num_elements() as f32 * 4.0 / MIB;
        assert!(taken <= 32.0, "{}: 10 pasted masks take {taken} MiB", backend.name);
        let (taken, encoded) = most_memory(|| paste_masks_as_run_lengths(masks, boxes, [1200, 2000], 1, 0.5));
        assert!(
            taken <= 4.0,
            "{}: run lengths of 10 masks take {taken} MiB",
            backend.name
        );
        assert!(encoded[0].area() > 0);
    }
}

/// 100 triangles in a picture of 4000 x 4000: 1.6 GB as pixels.
#[cfg(feature = "train")]
fn masks_of_a_sample_take_memory_by_their_outlines() {
    use burn_roi_detection::data::coco::CocoDataset;
    use burn_roi_detection::train::Sample;

    let triangle = r#"{"id": ID, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 8e6, "bbox": [0, 0, 4000, 4000],
        "segmentation": [[0, 0, 4000, 0, 0, 4000]]}"#;
    let annotations: Vec<String> = (1..=100).map(|id| triangle.replace("ID", &id.to_string())).collect();
    let json = format!(
        r#"{{"images": [{{"id": 1, "height": 4000, "width": 4000}}], "categories": [{{"id": 1, "name": "cat"}}],
            "annotations": [{}]}}"#,
        annotations.join(",")
    );
    let dataset = CocoDataset::from_json(json.as_bytes()).unwrap();
    let pixels = vec![0; 4000 * 4000 * 3];
    let (taken, sample) = most_memory(|| {
        Sample::try_from_coco(&dataset, 1, [4000, 4000], pixels)
            .unwrap()
            .flip(&[])
    });
    assert_eq!(sample.objects.len(), 100);
    assert!(taken <= 16.0, "the masks of a sample take {taken} MiB");
}

/// Checkpoints of detectron2: short opcodes that each make as much as they can, and one large array.
fn files_take_memory_by_their_size() {
    let mib = 1 << 20;
    let pickle = |opcodes: &[u8]| [b"\x80\x04", opcodes, b"."].concat();
    let check = |name: &str, file: &[u8], most: f32, is_read: bool| {
        let (taken, read) = most_memory(|| Checkpoint::from_pkl(file).is_ok());
        assert_eq!(read, is_read, "{name}");
        println!("a pickle of {name} takes {taken:.1} MiB");
        assert!(taken <= most, "a pickle of {name} takes {taken} MiB");
    };
    // With MEMOIZE after each.
    check("tuples", &pickle(&b")\x94".repeat(mib)), 64.0, false);
    check("dictionaries", &pickle(&b"}\x94".repeat(mib)), 64.0, false);
    check("values", &pickle(&b"N".repeat(mib)), 64.0, false);
    check("marks", &pickle(&b"(".repeat(mib)), 64.0, false);

    let float32 = b"cnumpy\ndtype\n\x8c\x02f4\x89\x88\x87R(K\x03\x8c\x01<NNNK\0K\0K\0tb";
    let shape = b"(J\0\0\x40\0t";
    let bytes = [b"B\0\0\0\x01".as_slice(), &vec![0; 16 * mib]].concat();
    let array = [
        b"cnumpy.core.numeric\n_frombuffer\n(",
        bytes.as_slice(),
        float32,
        shape,
        b"\x8c\x01CtR",
    ]
    .concat();
    let file = pickle(&[b"}\x8c\x05model}\x8c\x01a", array.as_slice(), b"ss"].concat());
    check("an array of 16 MiB", &file, 17.0, true);
}
