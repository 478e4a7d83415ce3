//! Anchors.

use burn_roi_detection::AnchorGeneratorConfig;

use crate::cases::check_all;

#[test]
fn anchors_are_those_of_torchvision() {
    check_all("anchors", |case, backend| {
        let sizes: Vec<Vec<f64>> = case.option("sizes");
        let generator = AnchorGeneratorConfig::new(sizes, case.option("aspect_ratios")).init();
        let per_location: Vec<usize> = case.option("per_location");
        assert_eq!(generator.num_anchors_per_location(), per_location);

        let map_sizes: Vec<[usize; 2]> = case.option("map_sizes");
        let image_size = case.option("image_size");
        let anchors = generator.forward(image_size, &map_sizes, &backend.device);
        assert_eq!(anchors.len(), case.results());
        for (level, anchors) in anchors.into_iter().enumerate() {
            case.assert_floats(level, anchors, 0.0, backend);
        }
    });
}
