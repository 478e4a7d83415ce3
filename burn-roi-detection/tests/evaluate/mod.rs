//! COCO's evaluation and COCO's files: results compared with pycocotools', which `record.py` records, and errors.

mod bad_input;
mod broken_files;
mod recorded;
mod run_lengths;
