//! The contact sheet: the photograph and its regions on the left, the operators' outputs on the right. The last row is
//! that of the turned region.

use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use crate::canvas::{Canvas, LINE_HEIGHT, Weight};
use crate::operators::Pooled;
use crate::pictures;
use crate::regions::{self, Region, TurnedRegion};

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
            rows: regions.len() as u32 + 1,
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

/// Draws the sheet. The last result is that of the turned region.
pub fn draw(photograph: &RgbImage, regions: &[Region], turned: &TurnedRegion, results: &[Pooled]) -> RgbImage {
    let (of_turned, results) = results.split_last().expect("the turned region has a result");
    let layout = Layout::new(photograph, regions, results);
    let mut canvas = Canvas::new(layout.size(), PAPER);
    draw_photograph(&mut canvas, &layout, photograph, regions, turned);
    draw_legend(&mut canvas, &layout, regions, turned);
    let colours = regions.iter().map(|region| region.colour).chain([turned.colour]);
    for (row, colour) in (0..).zip(colours) {
        draw_strip(&mut canvas, &layout, row, colour);
    }
    for (column, pooled) in (0..).zip(results) {
        let left = layout.column(column);
        let middle = left + layout.tile[0] / 2;
        canvas.centred(pooled.operator, [middle, MARGIN], INK, Weight::Bold);
        for row in 0..regions.len() {
            draw_tile(&mut canvas, &layout, [left, layout.row(row as u32)], pooled, row);
        }
    }
    draw_turned(&mut canvas, &layout, of_turned);
    canvas.into_picture()
}

fn draw_photograph(
    canvas: &mut Canvas,
    layout: &Layout,
    photograph: &RgbImage,
    regions: &[Region],
    turned: &TurnedRegion,
) {
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
    let rectangle = turned.rectangle.scaled(scale);
    picture.turned_frame(&rectangle, turned.colour, PAPER);
    let [x, y] = rectangle.center;
    let right_of_it = [x + rectangle.reach(), y - LINE_HEIGHT as f32 / 2.0].map(|side| side.round() as u32);
    badge(&mut picture, right_of_it, layout.rows, turned.colour);
    canvas.paste(&picture.into_picture(), [MARGIN, layout.top()]);
    let title = format!("photograph, {} x {}", photograph.width(), photograph.height());
    canvas.centred(&title, [MARGIN + width / 2, MARGIN], INK, Weight::Bold);
}

/// The names of the regions and their boxes, below the photograph.
fn draw_legend(canvas: &mut Canvas, layout: &Layout, regions: &[Region], turned: &TurnedRegion) {
    let upright = regions.iter().map(|region| {
        let [x1, y1, x2, y2] = region.corners;
        let corners = format!("{x1:>4.0},{y1:>4.0} to {x2:>4.0},{y2:>4.0}");
        (region.name, corners, region.colour)
    });
    let ([x, y], [width, height]) = (turned.rectangle.center, turned.rectangle.sides);
    let degrees = -turned.rectangle.degrees;
    let rectangle = format!("{x:>4.0},{y:>4.0}, {width:.0} x {height:.0}, {degrees:.0} degrees clockwise");
    for (line, (name, place, colour)) in (0..).zip(upright.chain([(turned.name, rectangle, turned.colour)])) {
        let top = layout.legend_line(line);
        badge(canvas, [MARGIN, top], line + 1, colour);
        let text = format!("{name:<14} {place}");
        canvas.text(&text, [MARGIN + STRIP + GAP, top], INK, Weight::Regular);
    }
}

/// A strip of a region's colour and its number, left of its row.
fn draw_strip(canvas: &mut Canvas, layout: &Layout, row: u32, colour: Rgb<u8>) {
    let [left, top] = [layout.strips(), layout.row(row)];
    let [right, bottom] = [left + STRIP, top + layout.tile[1]];
    canvas.fill([left, top, right, bottom], colour);
    let middle = [left + STRIP / 2, (top + bottom - LINE_HEIGHT) / 2];
    canvas.centred(&(row + 1).to_string(), middle, PAPER, Weight::Bold);
}

/// An operator's output for a region.
fn draw_tile(canvas: &mut Canvas, layout: &Layout, place: [u32; 2], pooled: &Pooled, region: usize) {
    let tile = pictures::from_pooled(pooled, region);
    let [width, height] = layout.tile;
    // `Nearest` keeps the output's pixels visible as squares.
    let enlarged = imageops::resize(&tile, width, height, FilterType::Nearest);
    canvas.paste(&enlarged, place);
}

/// The row of the turned region: its output, and the operator's name beside it.
fn draw_turned(canvas: &mut Canvas, layout: &Layout, pooled: &Pooled) {
    let top = layout.row(layout.rows - 1);
    draw_tile(canvas, layout, [layout.column(0), top], pooled, 0);
    let middle = top + (layout.tile[1] - LINE_HEIGHT) / 2;
    canvas.text(pooled.operator, [layout.column(1), middle], INK, Weight::Bold);
}

/// A region's number on its colour.
fn badge(canvas: &mut Canvas, [left, top]: [u32; 2], number: u32, colour: Rgb<u8>) {
    canvas.fill([left, top, left + STRIP, top + LINE_HEIGHT], colour);
    canvas.centred(&number.to_string(), [left + STRIP / 2, top], PAPER, Weight::Bold);
}
