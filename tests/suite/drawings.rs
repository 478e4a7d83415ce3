//! The drawings of the documents are what the operators read.
//! `ROI_DRAW=1 cargo test --test suite drawings` writes them.

use std::fmt::Write;

use burn::tensor::{Device, Distribution, Tensor, TensorData};
use burn_roi::{RoiAlignConfig, RoiPoolConfig, Rois, Sampling, roi_align, roi_pool};

use crate::checkout;

/// Pixels of the map, and the side of one in the drawing.
const WIDTH: usize = 8;
const HEIGHT: usize = 6;
const CELL: f64 = 26.0;
/// Above a panel is its title.
const TOP: f64 = 26.0;
const PANEL: [f64; 2] = [WIDTH as f64 * CELL + 26.0, HEIGHT as f64 * CELL + TOP + 8.0];
/// These colours show on light and on dark paper.
const GREY: &str = "#868e96";
const BLUE: &str = "#339af0";
const ORANGE: &str = "#f76707";

/// A map whose elements are a function of their column and row.
fn map(value: impl Fn(usize, usize) -> f32) -> Tensor<4> {
    let values = (0..HEIGHT * WIDTH).map(|pixel| value(pixel % WIDTH, pixel / WIDTH));
    let data = TensorData::new(values.collect(), [1, 1, HEIGHT, WIDTH]);
    Tensor::from_data(data, &Device::flex())
}

fn rois(corners: [f32; 4]) -> Rois {
    Rois::from_images(vec![Tensor::<2>::from_floats([corners], &Device::flex())])
}

fn values(tensor: Tensor<4>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// `[x, y]` of each sample: what a call with one sample an element reads from maps of the columns and the rows.
fn samples(config: &RoiAlignConfig, corners: [f32; 4], a_bin: [usize; 2]) -> Vec<[f64; 2]> {
    let [rows, columns] = [0, 1].map(|axis| config.output_size[axis] * a_bin[axis]);
    let mut each = config.clone().with_sampling(Sampling::Fixed(1));
    each.output_size = [rows, columns];
    let read = |map| values(roi_align(map, &rois(corners), each.clone()));

    // The mean of a bin's samples is what the operator computes.
    let noise = Tensor::<4>::random([1, 1, HEIGHT, WIDTH], Distribution::Default, &Device::flex());
    let found = values(roi_align(noise.clone(), &rois(corners), config.clone()));
    let one_by_one = read(noise);
    for (element, found) in found.into_iter().enumerate() {
        let [row, column] = [element / config.output_size[1], element % config.output_size[1]];
        let of_bin = (0..a_bin[0] * a_bin[1]).map(|sample| {
            let [down, across] = [sample / a_bin[1], sample % a_bin[1]];
            one_by_one[(row * a_bin[0] + down) * columns + column * a_bin[1] + across]
        });
        let mean = of_bin.sum::<f64>() / (a_bin[0] * a_bin[1]) as f64;
        assert!((mean - found).abs() < 1e-5, "{mean} {found}");
    }

    let [x, y] = [read(map(|x, _| x as f32)), read(map(|_, y| y as f32))];
    x.into_iter().zip(y).map(|(x, y)| [x, y]).collect()
}

/// The pixels `[x1, y1, x2, y2]` of each bin, both ends included: the maxima of rising and of falling maps.
fn bins(config: &RoiPoolConfig, corners: [f32; 4]) -> Vec<[f64; 4]> {
    let largest = |sign: f32, column: bool| {
        let map = map(|x, y| sign * if column { x } else { y } as f32);
        let found = values(roi_pool(map, &rois(corners), config.clone()));
        found.into_iter().map(move |value| value * f64::from(sign))
    };
    let low = largest(-1.0, true).zip(largest(-1.0, false));
    let high = largest(1.0, true).zip(largest(1.0, false));
    low.zip(high).map(|((x1, y1), (x2, y2))| [x1, y1, x2, y2]).collect()
}

/// The map's pixels with their centres, and the title.
fn paper(drawing: &mut String, panel: usize, title: &str) {
    let left = panel as f64 * PANEL[0];
    writeln!(drawing, r#"<text x="{left}" y="16" fill="{GREY}">{title}</text>"#).unwrap();
    let [right, bottom] = place(panel, [WIDTH as f64 - 0.5, HEIGHT as f64 - 0.5]);
    let rows = (0..=HEIGHT).map(|row| place(panel, [-0.5, row as f64 - 0.5]));
    let rows = rows.map(|[x, y]| format!("M{x} {y}H{right}"));
    let columns = (0..=WIDTH).map(|column| place(panel, [column as f64 - 0.5, -0.5]));
    let columns = columns.map(|[x, y]| format!("M{x} {y}V{bottom}"));
    let grid: String = rows.chain(columns).collect();
    writeln!(drawing, r#"<path d="{grid}" stroke="{GREY}" stroke-width="0.4"/>"#).unwrap();
    let centres = (0..WIDTH * HEIGHT).map(|pixel| place(panel, [pixel % WIDTH, pixel / WIDTH].map(|at| at as f64)));
    let centres: String = centres.map(|[x, y]| format!("M{x} {y}h0")).collect();
    let round = r#"stroke-width="2" stroke-linecap="round""#;
    writeln!(drawing, r#"<path d="{centres}" stroke="{GREY}" {round}/>"#).unwrap();
}

/// A pixel's centre has its index as coordinates, and reaches half a pixel to both sides.
fn place(panel: usize, [x, y]: [f64; 2]) -> [f64; 2] {
    [panel as f64 * PANEL[0] + (x + 0.5) * CELL, TOP + (y + 0.5) * CELL]
}

fn dot(drawing: &mut String, panel: usize, point: [f64; 2]) {
    let [x, y] = place(panel, point);
    writeln!(drawing, r#"<circle cx="{x}" cy="{y}" r="3" fill="{ORANGE}"/>"#).unwrap();
}

/// A bin of whole pixels, `inset` inside of their edges.
fn bin(drawing: &mut String, panel: usize, [x1, y1, x2, y2]: [f64; 4], inset: f64) {
    let [left, top] = place(panel, [x1 - 0.5, y1 - 0.5]).map(|side| side + inset);
    let [right, bottom] = place(panel, [x2 + 0.5, y2 + 0.5]).map(|side| side - inset);
    let [width, height] = [right - left, bottom - top];
    let shape = format!(r#"x="{left}" y="{top}" width="{width}" height="{height}""#);
    writeln!(
        drawing,
        r#"<rect {shape} fill="none" stroke="{ORANGE}" stroke-width="1.5"/>"#
    )
    .unwrap();
}

/// The region, `[x1, y1, x2, y2]` in indices of pixels, and the borders of its bins.
fn region(drawing: &mut String, panel: usize, [x1, y1, x2, y2]: [f64; 4], [rows, columns]: [usize; 2]) {
    for (count, from, to) in [(columns, [x1, y1], [x1, y2]), (rows, [x1, y1], [x2, y1])] {
        let [across, down] = [x2 - to[0], y2 - to[1]].map(|length| length / count as f64);
        for line in 0..=count {
            let shift = line as f64;
            let [left, top] = place(panel, [from[0] + shift * across, from[1] + shift * down]);
            let [right, bottom] = place(panel, [to[0] + shift * across, to[1] + shift * down]);
            let width = if line == 0 || line == count { 2 } else { 1 };
            let path = format!("M{left} {top}L{right} {bottom}");
            writeln!(drawing, r#"<path d="{path}" stroke="{BLUE}" stroke-width="{width}"/>"#).unwrap();
        }
    }
}

/// Compares the file with the drawing, or writes it. It has no blank line, so that Markdown takes it as one block.
fn check(file: &str, committed: &str, panels: usize, shapes: &str) {
    let [width, height] = [PANEL[0] * panels as f64 - 24.0, PANEL[1]];
    let size = format!(r#"width="{width}" height="{height}" viewBox="-1 0 {width} {height}""#);
    let font = r#"font-family="sans-serif" font-size="12""#;
    let drawing = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {size} {font}>\n{shapes}</svg>\n");
    if std::env::var_os("ROI_DRAW").is_some() {
        std::fs::write(checkout::folder().join(file), &drawing).unwrap();
    } else {
        assert!(
            committed == drawing,
            "{file} is another drawing: write it by ROI_DRAW=1"
        );
    }
}

#[test]
fn samples_of_roi_align() {
    let corners = [1.0_f32, 1.0, 7.0, 4.0];
    let config = RoiAlignConfig::new([2, 2]);
    let panels = [
        (
            "aligned = false, sampling_ratio = 2",
            config.clone().with_sampling_ratio(2),
            [2, 2],
            0.0,
        ),
        (
            "aligned = true, sampling_ratio = 2",
            config.clone().with_sampling_ratio(2).with_aligned(true),
            [2, 2],
            0.5,
        ),
        (
            "aligned = true, sampling_ratio = 0",
            config.with_aligned(true),
            [2, 3],
            0.5,
        ),
    ];
    let mut drawing = String::new();
    for (panel, (title, config, a_bin, subtracted)) in panels.into_iter().enumerate() {
        paper(&mut drawing, panel, title);
        let drawn = corners.map(|corner| f64::from(corner) - subtracted);
        region(&mut drawing, panel, drawn, config.output_size);
        let points = samples(&config, corners, a_bin);
        // The region that is drawn is the one that was sampled.
        let middle = [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / points.len() as f64);
        assert_eq!(middle, [(drawn[0] + drawn[2]) / 2.0, (drawn[1] + drawn[3]) / 2.0]);
        for point in points {
            dot(&mut drawing, panel, point);
        }
    }
    check("docs/samples.svg", include_str!("../../docs/samples.svg"), 3, &drawing);
}

#[test]
fn bins_of_roi_pool() {
    let corners = [1.2_f32, 0.8, 6.4, 4.3];
    let mut drawing = String::new();
    paper(&mut drawing, 0, "roi_pool to 2 x 4");
    region(&mut drawing, 0, corners.map(f64::from), [1, 1]);
    let bins = bins(&RoiPoolConfig::new([2, 4]), corners);
    // The corners round to the pixels 1 to 6 and 1 to 4. Four bins of six columns overlap.
    let columns = bins[..4].iter().map(|&[x1, _, x2, _]| [x1, x2]);
    assert_eq!(
        columns.collect::<Vec<_>>(),
        [[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]
    );
    assert_eq!((bins[0][1], bins[7][3]), (1.0, 4.0));
    for (index, corners) in bins.into_iter().enumerate() {
        bin(&mut drawing, 0, corners, [3.0, 6.0][index % 2]);
    }
    check("docs/bins.svg", include_str!("../../docs/bins.svg"), 1, &drawing);
}
