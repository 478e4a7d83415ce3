//! A picture to draw rectangles and text on. Whatever lies outside the picture is not drawn.

use image::{Rgb, RgbImage, imageops};
pub use noto_sans_mono_bitmap::FontWeight as Weight;
use noto_sans_mono_bitmap::{RasterHeight, get_raster, get_raster_width};

const FONT: RasterHeight = RasterHeight::Size16;

/// The height of a line of text.
pub const LINE_HEIGHT: u32 = FONT.val() as u32;

pub struct Canvas {
    picture: RgbImage,
}

/// A rectangle that is turned counter-clockwise about its centre.
pub struct Turned {
    pub center: [f32; 2],
    /// Width and height before it is turned.
    pub sides: [f32; 2],
    pub degrees: f32,
}

impl Turned {
    /// How far a point lies inside of the nearest edge; negative outside.
    fn depth(&self, [x, y]: [f32; 2]) -> f32 {
        let (sine, cosine) = self.degrees.to_radians().sin_cos();
        let [right, down] = [x - self.center[0], y - self.center[1]];
        let places = [right * cosine - down * sine, right * sine + down * cosine];
        let [along_x, along_y] = [0, 1].map(|axis| self.sides[axis] / 2.0 - places[axis].abs());
        along_x.min(along_y)
    }

    /// The rectangle in a picture whose width and height are multiplied. It keeps its shape.
    pub fn scaled(&self, [x, y]: [f32; 2]) -> Self {
        Self {
            center: [self.center[0] * x, self.center[1] * y],
            sides: self.sides.map(|side| side * x.min(y)),
            degrees: self.degrees,
        }
    }

    /// How far the rectangle reaches to the right of its centre.
    pub fn reach(&self) -> f32 {
        let (sine, cosine) = self.degrees.to_radians().sin_cos();
        (self.sides[0] * cosine.abs() + self.sides[1] * sine.abs()) / 2.0
    }
}

impl From<RgbImage> for Canvas {
    fn from(picture: RgbImage) -> Self {
        Self { picture }
    }
}

impl Canvas {
    pub fn new([width, height]: [u32; 2], paper: Rgb<u8>) -> Self {
        RgbImage::from_pixel(width, height, paper).into()
    }

    pub fn into_picture(self) -> RgbImage {
        self.picture
    }

    pub fn paste(&mut self, picture: &RgbImage, [left, top]: [u32; 2]) {
        imageops::replace(&mut self.picture, picture, left.into(), top.into());
    }

    /// Fills the rectangle; `x2` and `y2` are exclusive.
    pub fn fill(&mut self, [x1, y1, x2, y2]: [u32; 4], colour: Rgb<u8>) {
        let (width, height) = self.picture.dimensions();
        for y in y1..y2.min(height) {
            for x in x1..x2.min(width) {
                self.picture.put_pixel(x, y, colour);
            }
        }
    }

    /// Draws the outline of a rectangle, and a thin line around it so that it shows on any picture.
    pub fn frame(&mut self, [x1, y1, x2, y2]: [u32; 4], colour: Rgb<u8>, fine: Rgb<u8>) {
        self.outline([x1, y1, x2, y2], 1, fine);
        let inner = [x1 + 1, y1 + 1, x2.saturating_sub(1), y2.saturating_sub(1)];
        self.outline(inner, 2, colour);
    }

    /// Draws the same outline of a rectangle that is turned counter-clockwise about its centre.
    pub fn turned_frame(&mut self, rectangle: &Turned, colour: Rgb<u8>, fine: Rgb<u8>) {
        for (x, y, pixel) in self.picture.enumerate_pixels_mut() {
            let depth = rectangle.depth([x as f32 + 0.5, y as f32 + 0.5]);
            for (from, to, colour) in [(0.0, 1.0, fine), (1.0, 3.0, colour)] {
                // How much of a pixel lies between two lines is about the distance of its centre from them.
                let coverage = ((depth - from).min(to - depth) + 0.5).clamp(0.0, 1.0);
                *pixel = mix(*pixel, colour, (coverage * 255.0) as u8);
            }
        }
    }

    /// Draws lines of some thickness along the inside of a rectangle's edges.
    fn outline(&mut self, [x1, y1, x2, y2]: [u32; 4], thickness: u32, colour: Rgb<u8>) {
        self.fill([x1, y1, x2, y1 + thickness], colour);
        self.fill([x1, y2.saturating_sub(thickness), x2, y2], colour);
        self.fill([x1, y1, x1 + thickness, y2], colour);
        self.fill([x2.saturating_sub(thickness), y1, x2, y2], colour);
    }

    /// Writes a line of text from its top left corner.
    pub fn text(&mut self, text: &str, [left, top]: [u32; 2], colour: Rgb<u8>, weight: Weight) {
        let advance = get_raster_width(weight, FONT) as u32;
        for (index, character) in (0..).zip(text.chars()) {
            self.character(character, [left + index * advance, top], colour, weight);
        }
    }

    /// Writes a line of text centred at `middle`.
    pub fn centred(&mut self, text: &str, [middle, top]: [u32; 2], colour: Rgb<u8>, weight: Weight) {
        let width = (text.chars().count() * get_raster_width(weight, FONT)) as u32;
        self.text(text, [middle.saturating_sub(width / 2), top], colour, weight);
    }

    fn character(&mut self, character: char, [left, top]: [u32; 2], colour: Rgb<u8>, weight: Weight) {
        // The font has ASCII only; other characters are left out.
        let Some(glyph) = get_raster(character, weight, FONT) else {
            return;
        };
        for (y, row) in (top..).zip(glyph.rows()) {
            for (x, &coverage) in (left..).zip(row) {
                if let Some(pixel) = self.picture.get_pixel_mut_checked(x, y) {
                    *pixel = mix(*pixel, colour, coverage);
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
