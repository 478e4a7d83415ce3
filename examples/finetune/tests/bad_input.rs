//! Broken pictures, annotations, weights and folders.

use std::fs;
use std::path::Path;

use burn_roi_detection::data::coco::CocoPicturesError;
use burn_roi_detection::models::DetectorConfig;
use find_objects::{CONFIG, WEIGHTS};
use serde_json::{Value, json};

use super::{Short, annotations, coins, on_large_stack, read, text};
use crate::run;

fn run_error(short: &Short) -> String {
    run(&short.arguments).expect_err("a refused run").to_string()
}

/// Adds an image to annotations, and an annotation of it with the id 100 higher.
fn add(coco: &mut Value, id: i64, file_name: Option<&str>, size: [usize; 2]) {
    let mut image = json!({"id": id, "height": size[0], "width": size[1]});
    if let Some(name) = file_name {
        image["file_name"] = name.into();
    }
    coco["images"].as_array_mut().unwrap().push(image);
    let object = json!({"id": 100 + id, "image_id": id, "category_id": 1, "area": 4, "bbox": [0, 0, 2, 2]});
    coco["annotations"].as_array_mut().unwrap().push(object);
}

#[test]
fn broken_files_are_named_and_the_rest_is_used() {
    let short = Short::new("broken", &[]);
    let left = fs::read(coins("left.png")).unwrap();
    short.write("left.png", &left);
    short.write("half.png", &left[..left.len() / 2]);
    short.write("text.png", "not a picture");
    let mut coco = annotations("left.json");
    let size = [303, 183];
    add(&mut coco, 2, Some("half.png"), size);
    add(&mut coco, 3, Some("text.png"), size);
    add(&mut coco, 4, Some("none.png"), size);
    add(&mut coco, 5, None, size);
    add(&mut coco, 6, Some("left.png"), [200, 200]);
    let objects = coco["annotations"].as_array_mut().unwrap();
    objects.push(json!({"id": 201, "image_id": 77, "category_id": 1, "area": 4, "bbox": [0, 0, 2, 2]}));
    objects.push(json!({"id": 202, "image_id": 1, "category_id": 9, "area": 4, "bbox": [0, 0, 2, 2]}));
    objects.push(json!({"id": 203, "image_id": 1, "category_id": 1, "area": 4, "bbox": [0, 0, -2, 2]}));
    let path = short.write("all.json", coco.to_string());

    let pictures = read(&path, &short.folder).unwrap();
    assert_eq!(pictures.dataset().images().len(), 1);
    assert_eq!(pictures.dataset().annotations().len(), 12);
    let told: Vec<String> = pictures.problems().iter().map(ToString::to_string).collect();
    let reason = fs::File::open(short.folder.join("none.png")).unwrap_err();
    let missing = format!("none.png: {reason}");
    let expected = [
        "annotation 201: `image_id` is 77, which no image of the data set has",
        "annotation 202: `category_id` is 9, which no category of the data set has",
        "annotation 203: `bbox` is [0.0, 0.0, -2.0, 2.0], but must have a width and a height of at least 0, and there \
        is no mask",
        "image 2: cannot read the image ",
        "image 3: cannot read the image ",
        &missing,
        "image 5: it has no `file_name`",
        "left.png has [303, 183] pixels (height, width), but the annotations say [200, 200]",
        "annotation 102: `image_id` is 2, which no image of the data set has",
        "annotation 106: `image_id` is 6, which no image of the data set has",
    ];
    for expected in expected {
        assert!(
            told.iter().any(|told| told.contains(expected)),
            "{expected} is not in {told:#?}"
        );
    }
    assert_eq!(told.len(), 13);
    let table = pictures.to_string();
    let rows = [
        "  read                     6 images\n",
        "  read                    20 annotations\n",
        "  left out                 3 images: a picture that can't be read\n",
        "  left out                 1 images: no `file_name`\n",
        "  left out                 6 annotations: an image that is not in the data set\n",
        "                              annotation 102: `image_id` is 2, which no image of the data set has\n",
        "                              and 3 more\n",
    ];
    for row in rows {
        assert!(table.contains(row), "{row} is not in {table}");
    }
}

/// The coins without sizes, with a mask of two points and a box outside of the picture.
#[test]
fn flawed_files_are_mended_and_told() {
    let short = Short::new("mended", &[]);
    let mut coco = annotations("left.json");
    let image = coco["images"][0].as_object_mut().unwrap();
    image.remove("width");
    image.insert("height".into(), (-1).into());
    let objects = coco["annotations"].as_array_mut().unwrap();
    objects[2]["segmentation"] = json!([[10, 10, 30, 30]]);
    objects[3].as_object_mut().unwrap().remove("area");
    objects[4]["bbox"] = json!([500, 0, 2, 2]);
    let path = short.write("all.json", coco.to_string());

    let shipped = find_objects::config::read(Path::new(CONFIG)).unwrap();
    let boxes = DetectorConfig {
        mask_head: None,
        ..shipped.clone()
    };
    let again = || read(&path, &coins("")).unwrap();
    let pictures = again().for_heads(&boxes).unwrap();
    let image = &pictures.dataset().images()[0];
    assert_eq!(image.size, Some([303, 183]));
    assert_eq!(pictures.dataset().annotations().len(), 12);
    let sample = pictures.sample(image).unwrap();
    assert_eq!(sample.objects.len(), 11);
    assert!(sample.objects[0].mask.as_ref().is_some_and(|mask| mask.area() > 0));
    assert_eq!(sample.objects[2].mask, None);
    let expected = "  read                     1 images
  read                     1 categories
  read                    12 annotations
  mended                   1 images: no usable size: that of the picture is taken
                              image 1: its size is -1 x null, but must be two integers above 0
  mended                   1 annotations: no usable `area`: that of the mask or the box is taken
                              annotation 4: there is no `area`
  without mask             1 annotations: no usable `segmentation`
                              annotation 3: `segmentation`: `polygons` is a polygon of 4 coordinates, but must be of \
                              an even number of coordinates, 6 at least
  not trained              1 annotations: a box without an area inside of the image
                              annotation 5: `bbox` is [500.0, 0.0, 2.0, 2.0], [x, y, w, h], which has no area in the \
                              image of 303 x 183 pixels (height, width)
";
    assert_eq!(pictures.to_string(), expected);

    let pictures = again().for_heads(&shipped).unwrap();
    assert_eq!(pictures.dataset().annotations().len(), 11);
    let row = "  left out                 1 annotations: no mask, which the mask head learns\n\
        \u{20}                             annotation 3: `segmentation`: ";
    let table = pictures.to_string();
    assert!(table.contains(row) && !table.contains("without mask"), "{table}");
}

/// The files of a machine are not for whoever writes annotations.
#[test]
fn pictures_outside_of_the_folder() {
    let short = Short::new("outside", &[]);
    let folder = short.folder.join("pictures");
    fs::create_dir_all(&folder).unwrap();
    let outside = short.write("left.png", fs::read(coins("left.png")).unwrap());
    for name in ["../left.png", text(&outside), "x/../../left.png"] {
        let mut coco = annotations("left.json");
        coco["images"][0]["file_name"] = name.into();
        let path = short.write("all.json", coco.to_string());
        let error = read(&path, &folder).unwrap_err().to_string();
        let expected = format!("`file_name` is {name:?}, which is outside of the folder of the pictures");
        assert!(error.contains(&expected), "{error}");
    }
    let mut coco = annotations("left.json");
    coco["images"][0]["file_name"] = "../left.png".into();
    let path = short.write("all.json", coco.to_string());
    let allowed = Short::new("allowed", &["--allow-outside"]);
    allowed.arguments.read([&path, &folder]).unwrap();
}

#[test]
fn truncated_pictures() {
    let short = Short::new("truncated", &[]);
    let mut jpeg = Vec::new();
    let picture = image::open(coins("left.png")).unwrap().into_rgb8();
    picture
        .write_with_encoder(image::codecs::jpeg::JpegEncoder::new(&mut jpeg))
        .unwrap();
    short.write("left.jpg", &jpeg[..jpeg.len() / 2]);
    let mut coco = annotations("left.json");
    coco["images"][0]["file_name"] = "left.jpg".into();
    let path = short.write("all.json", coco.to_string());
    let error = read(&path, &short.folder).unwrap_err().to_string();
    assert!(error.contains("left.jpg: the JPEG file is truncated"), "{error}");
    let allowed = Short::new("allowed_truncated", &["--allow-truncated"]);
    allowed.arguments.read([&path, &short.folder]).unwrap();
}

#[test]
fn keypoints_beyond_f32() {
    let mut coco = annotations("left.json");
    coco["annotations"][2]["keypoints"] = json!([1e39, 0, 2]);
    coco["annotations"][2]["num_keypoints"] = 1.into();
    let short = Short::new("infinite", &[]);
    let path = short.write("all.json", coco.to_string());
    let config = find_objects::config::read(Path::new(CONFIG)).unwrap();
    let fitting = read(&path, &coins("")).unwrap().for_heads(&config).unwrap();
    assert_eq!(fitting.dataset().annotations().len(), 11);
    let problem = format!(
        "annotation 3: it has {} in `keypoints`, which is not finite in f32",
        1e39
    );
    assert_eq!(fitting.problems()[0].to_string(), problem);
}

#[test]
fn categories_of_one_name() {
    let mut coco = annotations("left.json");
    coco["categories"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": 2, "name": "coin"}));
    let mut short = Short::new("names", &[]);
    short.arguments.coco = Some(short.write("all.json", coco.to_string()));
    short.arguments.images = Some(coins(""));
    let error = run_error(&short);
    assert!(
        error.starts_with("category 2 (coin) of ") && error.ends_with("has the name of another: rename or join them"),
        "{error}"
    );
}

#[test]
fn annotations_of_which_none_is_left() {
    let short = Short::new("nothing", &[]);
    let error = read(&coins("left.json"), &short.folder).unwrap_err();
    assert!(matches!(error, CocoPicturesError::NoAnnotation { .. }), "{error}");
    let error = error.to_string();
    assert!(
        error.contains("image 1: cannot read the image") && error.contains("annotation 1: `image_id` is 1, which no"),
        "{error}"
    );
}

#[test]
fn annotations_of_which_there_are_none() {
    let short = Short::new("none", &[]);
    let mut coco = annotations("left.json");
    coco["annotations"] = json!([]);
    let path = short.write("none.json", coco.to_string());
    let error = read(&path, &coins("")).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("no annotation of {} can be used: there is none", path.display())
    );
}

#[test]
fn annotations_without_what_a_head_learns() {
    let mut coco = annotations("left.json");
    coco["annotations"][4].as_object_mut().unwrap().remove("segmentation");
    let short = Short::new("no_mask", &[]);
    let path = short.write("all.json", coco.to_string());
    let config = find_objects::config::read(Path::new(CONFIG)).unwrap();
    let pictures = read(&path, &coins("")).unwrap();
    let fitting = pictures.clone().for_heads(&config).unwrap();
    assert_eq!(fitting.dataset().annotations().len(), 11);
    let problem = "annotation 5: it has no `segmentation`, which the mask head learns";
    assert_eq!(fitting.problems()[0].to_string(), problem);
    let config = DetectorConfig {
        mask_head: None,
        ..config
    };
    let boxes = pictures.for_heads(&config).unwrap();
    assert_eq!((boxes.dataset().annotations().len(), boxes.problems().len()), (12, 0));
}

#[test]
fn a_category_that_is_not_trained() {
    let mut coco = annotations("right.json");
    coco["categories"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": 2, "name": "medal"}));
    let mut short = Short::new("category", &[]);
    short.arguments.test_coco = Some(short.write("test.json", coco.to_string()));
    short.arguments.images = Some(coins(""));
    let expected = "test.json is not one of the categories that are trained";
    let error = run_error(&short);
    assert!(
        error.starts_with("category 2 (medal) of ") && error.ends_with(expected),
        "{error}"
    );
}

#[test]
fn weights_of_another_architecture() {
    let mut short = Short::new("weights", &[]);
    let shapes: Value = serde_json::from_slice(&fs::read(CONFIG).unwrap()).unwrap();
    let mut wider = shapes.clone();
    wider["box_head"]["fully_connected"] = json!([8, 8]);
    short.arguments.config = short.write("wider.json", wider.to_string());
    let error = run_error(&short);
    let expected =
        "wider.json needs weights to begin with: add --weights FILE, or --backbone FILE for a backbone alone";
    assert!(
        error.starts_with("the configuration ") && error.ends_with(expected),
        "{error}"
    );
    short.arguments.weights = Some(WEIGHTS.into());
    let error = run_error(&short);
    assert!(error.starts_with("the weights do not fit the model "), "{error}");
    assert!(error.contains("roi_heads.box_head.fc6.weight"), "{error}");
    short.arguments.weights = Some(short.write("weights.pth", "no weights"));
    let error = run_error(&short);
    assert!(
        error.starts_with("cannot read the weights ") && error.contains("weights.pth"),
        "{error}"
    );
    assert_eq!(short.written(), [""; 0]);
}

#[test]
fn a_loss_that_is_not_finite_says_what_to_do() {
    on_large_stack(|| {
        let short = Short::new("diverges", &["--rate", "1e30", "--interval", "4"]);
        let error = run_error(&short);
        assert!(
            error.contains(" is ") && error.contains(", but must be finite"),
            "{error}"
        );
        let rate =
            "The learning rate is 1000000000000000000000000000000: begin again with a lower one, such as --rate 1.0e29";
        let checkpoint = short.arguments.output.join("checkpoint");
        let end = format!("remove {}, or name another folder by --output", checkpoint.display());
        assert!(error.contains(rate) && error.ends_with(&end), "{error}");
    });
}

#[test]
fn a_file_that_cannot_be_replaced() {
    let short = Short::new("replaced", &[]);
    let path = short.folder.join("taken");
    fs::create_dir_all(path.join("inside")).unwrap();
    let error = crate::history::write_file(&path, b"text").unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write {}: ", text(&path))), "{error}");
    let names = fs::read_dir(&short.folder)
        .unwrap()
        .map(|file| file.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["taken"]);
}

#[test]
fn more_devices_than_there_are() {
    let error = run_error(&Short::new("devices", &["--devices", "2"]));
    assert_eq!(error, "backend flex has 1 of 2 devices here");
}
