//! The contact sheet: the photograph and its regions on the left, the operators' outputs on the right.

use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use crate::canvas::{Canvas, LINE_HEIGHT, Weight};
use crate::operators::Pooled;
use crate::pictures;
use crate::regions::{self, Region};

const MARGIN: u32 = 16;
const GAP: u32 = 8;
/// The width of the strip that numbers a row.
const STRIP: u32 = 20;
/// The longer side of the photograph.
const PHOTOGRAPH: u32 = 416;
/// The approximate side of a tile; pixels are enlarged by a whole number.
const TILE: u32 = 96;
const INK: Rgb<u8> = Rgb([36, 41, 47]);
const PAPER: Rgb<u8> = Rgb([255, 255, 255]);

/// Sizes and positions on the sheet.
struct Layout {
    /// Width and height of the photograph as drawn.
    photograph: [u32; 2],
    /// Width and height of a region as drawn.
    tile: [u32; 2],
    rows: u32,
    columns: u32,
}

impl Layout {
    fn new(photograph: &RgbImage, regions: &[Region], results: &[Pooled]) -> Self {
        let (width, height) = photograph.dimensions();
        let scale = f64::from(PHOTOGRAPH) / f64::from(width.max(height));
        let [_, _, tile_height, tile_width] = results[0].shape.map(|side| side as u32);
        let enlargement = ((TILE + tile_width / 2) / tile_width).max(1);
        Self {
            photograph: [width, height].map(|side| ((f64::from(side) * scale) as u32).max(1)),
            tile: [tile_width, tile_height].map(|side| side * enlargement),
            rows: regions.len() as u32,
            columns: results.len() as u32,
        }
    }

    /// The top of the photograph and of the first row, below the titles.
    fn top(&self) -> u32 {
        MARGIN + LINE_HEIGHT + GAP
    }

    /// The left of the strips that number the rows.
    fn strips(&self) -> u32 {
        MARGIN + PHOTOGRAPH + 2 * GAP
    }

    fn row(&self, row: u32) -> u32 {
        self.top() + row * (self.tile[1] + GAP)
    }

    fn column(&self, column: u32) -> u32 {
        self.strips() + STRIP + GAP + column * (self.tile[0] + GAP)
    }

    fn legend_line(&self, line: u32) -> u32 {
        self.top() + self.photograph[1] + GAP + line * (LINE_HEIGHT + 2)
    }

    fn size(&self) -> [u32; 2] {
        let bottom = self.row(self.rows).max(self.legend_line(self.rows) + GAP);
        [self.column(self.columns) - GAP + MARGIN, bottom - GAP + MARGIN]
    }
}

pub fn draw(photograph: &RgbImage, regions: &[Region], results: &[Pooled]) -> RgbImage {
    let layout = Layout::new(photograph, regions, results);
    let mut canvas = Canvas::new(layout.size(), PAPER);
    draw_photograph(&mut canvas, &layout, photograph, regions);
    draw_legend(&mut canvas, &layout, regions);
    draw_strips(&mut canvas, &layout, regions);
    for (column, pooled) in (0..).zip(results) {
        draw_results(&mut canvas, &layout, column, pooled);
    }
    canvas.into_picture()
}

fn draw_photograph(canvas: &mut Canvas, layout: &Layout, photograph: &RgbImage, regions: &[Region]) {
    let [width, height] = layout.photograph;
    let mut picture = Canvas::from(imageops::resize(photograph, width, height, FilterType::CatmullRom));
    let scale = [
        width as f32 / photograph.width() as f32,
        height as f32 / photograph.height() as f32,
    ];
    for (number, region) in (1..).zip(regions) {
        let corners = regions::scaled(region.corners, scale).map(|side| side.round() as u32);
        picture.frame(corners, region.colour, PAPER);
        badge(&mut picture, [corners[0], corners[1]], number, region.colour);
    }
    canvas.paste(&picture.into_picture(), [MARGIN, layout.top()]);
    let title = format!("photograph, {} x {}", photograph.width(), photograph.height());
    canvas.centred(&title, [MARGIN + width / 2, MARGIN], INK, Weight::Bold);
}

/// The names of the regions and their boxes, below the photograph.
fn draw_legend(canvas: &mut Canvas, layout: &Layout, regions: &[Region]) {
    for (line, region) in (0..).zip(regions) {
        let top = layout.legend_line(line);
        badge(canvas, [MARGIN, top], line + 1, region.colour);
        let [x1, y1, x2, y2] = region.corners;
        let text = format!("{:<14} {x1:>4.0},{y1:>4.0} to {x2:>4.0},{y2:>4.0}", region.name);
        canvas.text(&text, [MARGIN + STRIP + GAP, top], INK, Weight::Regular);
    }
}

/// A strip of a region's colour and its number, left of its row.
fn draw_strips(canvas: &mut Canvas, layout: &Layout, regions: &[Region]) {
    for (row, region) in (0..).zip(regions) {
        let [left, top] = [layout.strips(), layout.row(row)];
        let [right, bottom] = [left + STRIP, top + layout.tile[1]];
        canvas.fill([left, top, right, bottom], region.colour);
        let middle = [left + STRIP / 2, (top + bottom - LINE_HEIGHT) / 2];
        canvas.centred(&(row + 1).to_string(), middle, PAPER, Weight::Bold);
    }
}

/// A column: an operator's name and its output for each region.
fn draw_results(canvas: &mut Canvas, layout: &Layout, column: u32, pooled: &Pooled) {
    let left = layout.column(column);
    let middle = left + layout.tile[0] / 2;
    canvas.centred(pooled.operator.name(), [middle, MARGIN], INK, Weight::Bold);
    for row in 0..layout.rows {
        let tile = pictures::from_pooled(pooled, row as usize);
        let [width, height] = layout.tile;
        // `Nearest` keeps the output's pixels visible as squares.
        let enlarged = imageops::resize(&tile, width, height, FilterType::Nearest);
        canvas.paste(&enlarged, [left, layout.row(row)]);
    }
}

/// A region's number on its colour.
fn badge(canvas: &mut Canvas, [left, top]: [u32; 2], number: u32, colour: Rgb<u8>) {
    canvas.fill([left, top, left + STRIP, top + LINE_HEIGHT], colour);
    canvas.centred(&number.to_string(), [left + STRIP / 2, top], PAPER, Weight::Bold);
}
