//! A picture to draw rectangles, text and tints on.

use image::{Rgb, RgbImage};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

const FONT: RasterHeight = RasterHeight::Size16;
const WEIGHT: FontWeight = FontWeight::Bold;

/// A picture to draw on. What lies outside of the picture is not drawn.
#[derive(Debug, Clone)]
pub struct Canvas {
    picture: RgbImage,
    /// The width of a thin line in pixels, and the factor by which text is enlarged.
    unit: i64,
}

impl Canvas {
    /// A canvas on a picture.
    ///
    /// - `unit`: the width of a thin line in pixels, and the factor by which text is enlarged. A line of text is 16
    ///   units high.
    pub fn new(picture: RgbImage, unit: u32) -> Self {
        Self {
            picture,
            unit: unit.into(),
        }
    }

    /// The picture with everything that was drawn.
    pub fn into_picture(self) -> RgbImage {
        self.picture
    }

    /// Width and height.
    pub fn size(&self) -> [i64; 2] {
        [self.picture.width(), self.picture.height()].map(i64::from)
    }

    /// Blends a colour into the rectangle; `x2` and `y2` are exclusive, and a coverage of 255 is opaque.
    pub fn fill(&mut self, [x1, y1, x2, y2]: [i64; 4], colour: Rgb<u8>, coverage: u8) {
        let [width, height] = self.size();
        for y in y1.max(0)..y2.min(height) {
            for x in x1.max(0)..x2.min(width) {
                let pixel = self.picture.get_pixel_mut(x as u32, y as u32);
                *pixel = mix(*pixel, colour, coverage);
            }
        }
    }

    /// Draws the outline of a rectangle, two units wide, and a dark line around it so that it shows on any picture.
    pub fn frame(&mut self, corners: [i64; 4], colour: Rgb<u8>) {
        let unit = self.unit;
        let [x1, y1, x2, y2] = corners;
        self.outline([x1 - unit, y1 - unit, x2 + unit, y2 + unit], unit, Rgb([0, 0, 0]), 110);
        self.outline(corners, 2 * unit, colour, 255);
    }

    /// Draws lines along the inside of a rectangle's edges.
    fn outline(&mut self, [x1, y1, x2, y2]: [i64; 4], thickness: i64, colour: Rgb<u8>, coverage: u8) {
        let thickness = thickness.min((x2 - x1 + 1) / 2).min((y2 - y1 + 1) / 2);
        let [inner_top, inner_bottom] = [y1 + thickness, y2 - thickness];
        self.fill([x1, y1, x2, inner_top], colour, coverage);
        self.fill([x1, inner_bottom, x2, y2], colour, coverage);
        self.fill([x1, inner_top, x1 + thickness, inner_bottom], colour, coverage);
        self.fill([x2 - thickness, inner_top, x2, inner_bottom], colour, coverage);
    }

    /// Width and height of a line of text.
    pub fn text_size(&self, text: &str) -> [i64; 2] {
        let width = text.chars().count() * get_raster_width(WEIGHT, FONT);
        [width as i64, FONT.val() as i64].map(|side| side * self.unit)
    }

    /// Writes a line of text from its top left corner. The font has ASCII only; other characters are left blank.
    pub fn text(&mut self, text: &str, [left, top]: [i64; 2], colour: Rgb<u8>) {
        let unit = self.unit;
        let advance = get_raster_width(WEIGHT, FONT) as i64 * unit;
        for (index, character) in (0..).zip(text.chars()) {
            let Some(glyph) = get_raster(character, WEIGHT, FONT) else {
                continue;
            };
            for (y, row) in (0..).zip(glyph.rows()) {
                for (x, &coverage) in (0..).zip(row.iter()) {
                    let [x, y] = [left + index * advance + x * unit, top + y * unit];
                    self.fill([x, y, x + unit, y + unit], colour, coverage);
                }
            }
        }
    }
}

/// Blends `over` onto `under`; a coverage of 255 is opaque.
fn mix(under: Rgb<u8>, over: Rgb<u8>, coverage: u8) -> Rgb<u8> {
    let coverage = u16::from(coverage);
    let channel = |index: usize| {
        let [under, over] = [under[index], over[index]].map(u16::from);
        ((under * (255 - coverage) + over * coverage + 127) / 255) as u8
    };
    Rgb([0, 1, 2].map(channel))
}
