//! Pictures of overlapping shapes, with the box, the class and the visible mask of each.

use image::{Rgb, RgbImage};

use super::outline::{Coverage, SHAPES, Shape};
use super::surface::{Surface, colour, contrasting};
use crate::random::Random;

/// The width and height of the pictures, in turn.
pub const SIZES: [[usize; 2]; 3] = [[160, 160], [192, 160], [160, 192]];

/// The range of the longer sides of shapes.
const EXTENT: [f32; 2] = [14.0, 112.0];
const MOST_SHAPES: usize = 6;
/// Of each shape, at least this share is visible.
const LEAST_VISIBLE: f32 = 0.5;
const BACKGROUND_CONTRAST: f32 = 120.0;
const SHAPE_CONTRAST: f32 = 50.0;
/// The largest standard deviation of the noise.
const MOST_NOISE: f32 = 12.0;

pub struct Picture {
    pub pixels: RgbImage,
    pub shapes: Vec<Drawn>,
}

/// A shape in a picture.
pub struct Drawn {
    /// From 1.
    pub class: usize,
    /// For each pixel of the picture, whether it shows the shape.
    pub mask: Vec<bool>,
    /// The number of pixels before others covered some.
    whole: usize,
}

impl Drawn {
    /// A shape that nothing covers.
    pub fn new(class: usize, mask: Vec<bool>) -> Self {
        let whole = mask.iter().filter(|&&shown| shown).count();
        Self { class, mask, whole }
    }

    pub fn shape(&self) -> Shape {
        SHAPES[self.class - 1]
    }

    /// `[x1, y1, x2, y2]`: from the first column and row of the mask to the end of its last.
    pub fn corners(&self, width: usize) -> [f32; 4] {
        let shown = || {
            self.mask
                .iter()
                .enumerate()
                .filter(|&(_, &shown)| shown)
                .map(|(index, _)| index)
        };
        let bounds = |places: &mut dyn Iterator<Item = usize>| {
            places.fold([usize::MAX, 0], |[low, high], place| {
                [low.min(place), high.max(place + 1)]
            })
        };
        let [left, right] = bounds(&mut shown().map(|index| index % width));
        let [top, bottom] = bounds(&mut shown().map(|index| index / width));
        [left, top, right, bottom].map(|side| side as f32)
    }

    fn area(&self) -> usize {
        self.mask.iter().filter(|&&shown| shown).count()
    }
}

/// Draws the picture that belongs to a seed and an index. `size` is its width and height.
pub fn draw(seed: u64, index: u64, size: [usize; 2]) -> Picture {
    let random = &mut Random::new(&[seed, index]);
    let [width, height] = size;
    let background = colour(random);
    let mut canvas = Surface::paint(width, height, background, BACKGROUND_CONTRAST, random);
    let mut shapes = Vec::new();
    for _ in 0..random.whole(1, MOST_SHAPES) {
        let class = random.whole(1, SHAPES.len());
        if let Some((corner, coverage)) = place(&shapes, class, size, random) {
            let drawn = put(&mut canvas, &mut shapes, class, corner, &coverage, random);
            shapes.push(drawn);
        }
    }
    Picture {
        pixels: with_noise(canvas, random),
        shapes,
    }
}

/// The corner and coverage of a new shape that leaves enough of all others visible; none after 20 trials.
fn place(
    shapes: &[Drawn],
    class: usize,
    [width, height]: [usize; 2],
    random: &mut Random,
) -> Option<([usize; 2], Coverage)> {
    for _ in 0..20 {
        let size = random.uniform(EXTENT[0].ln(), EXTENT[1].ln()).exp();
        let coverage = Coverage::of(SHAPES[class - 1], size, random);
        let left = random.whole(0, width - coverage.width);
        let top = random.whole(0, height - coverage.height);
        let remains = |shape: &Drawn| {
            let covered = solid(&coverage)
                .filter(|[x, y]| shape.mask[(top + y) * width + left + x])
                .count();
            (shape.area() - covered) as f32 >= LEAST_VISIBLE * shape.whole as f32
        };
        if shapes.iter().all(remains) {
            return Some(([left, top], coverage));
        }
    }
    None
}

/// Draws a shape over all others.
fn put(
    canvas: &mut Surface,
    others: &mut [Drawn],
    class: usize,
    [left, top]: [usize; 2],
    coverage: &Coverage,
    random: &mut Random,
) -> Drawn {
    let width = canvas.width;
    let under: Vec<_> = solid(coverage).map(|[x, y]| *canvas.at(left + x, top + y)).collect();
    let own = contrasting(&under, random);
    let mut surface = Surface::paint(coverage.width, coverage.height, own, SHAPE_CONTRAST, random);
    for y in 0..coverage.height {
        for x in 0..coverage.width {
            let share = coverage.values[y * coverage.width + x];
            let (pixel, colour) = (canvas.at(left + x, top + y), *surface.at(x, y));
            for (channel, value) in pixel.iter_mut().zip(colour) {
                *channel += (value - *channel) * share;
            }
        }
    }
    let mut mask = vec![false; canvas.pixels.len()];
    for [x, y] in solid(coverage) {
        let index = (top + y) * width + left + x;
        mask[index] = true;
        others.iter_mut().for_each(|other| other.mask[index] = false);
    }
    Drawn::new(class, mask)
}

/// The pixels `[x, y]` of which a shape covers at least half.
fn solid(coverage: &Coverage) -> impl Iterator<Item = [usize; 2]> {
    let pixels = (0..coverage.height).flat_map(|y| (0..coverage.width).map(move |x| [x, y]));
    pixels.filter(|&[x, y]| coverage.is_solid(x, y))
}

fn with_noise(canvas: Surface, random: &mut Random) -> RgbImage {
    let noise = random.uniform(0.0, MOST_NOISE);
    let [width, height] = [canvas.width, canvas.pixels.len() / canvas.width];
    let mut pixels = canvas.pixels.into_iter();
    RgbImage::from_fn(width as u32, height as u32, |_, _| {
        // The iterator has a colour for each pixel.
        let colour = pixels.next().unwrap_or_default();
        Rgb(colour.map(|channel| (channel + noise * random.normal() + 0.5).clamp(0.0, 255.0) as u8))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_depends_only_on_its_seed_and_index() {
        let [first, again, other] = [(1, 7), (1, 7), (1, 8)].map(|(seed, index)| draw(seed, index, SIZES[1]));
        assert_eq!(first.pixels, again.pixels);
        assert_ne!(first.pixels, other.pixels);
        assert_eq!(first.pixels.dimensions(), (192, 160));
    }

    #[test]
    fn boxes_are_the_bounds_of_masks_and_half_of_each_shape_is_visible() {
        for index in 0..8 {
            let picture = draw(1, index, SIZES[0]);
            assert!((1..=MOST_SHAPES).contains(&picture.shapes.len()));
            for shape in &picture.shapes {
                let [x1, y1, x2, y2] = shape.corners(160).map(|side| side as usize);
                let inside = |index: usize| {
                    let (x, y) = (index % 160, index / 160);
                    (x1..x2).contains(&x) && (y1..y2).contains(&y)
                };
                let shown = |index: &usize| shape.mask[*index];
                assert!((0..160 * 160).filter(shown).all(inside));
                for side in [x1, x2 - 1] {
                    assert!((y1..y2).any(|y| shape.mask[y * 160 + side]));
                }
                for side in [y1, y2 - 1] {
                    assert!((x1..x2).any(|x| shape.mask[side * 160 + x]));
                }
                assert!(shape.area() as f32 >= LEAST_VISIBLE * shape.whole as f32);
            }
        }
    }

    #[test]
    fn no_pixel_shows_two_shapes() {
        let picture = draw(2, 5, SIZES[2]);
        for index in 0..160 * 192 {
            let shown = picture.shapes.iter().filter(|shape| shape.mask[index]).count();
            assert!(shown <= 1);
        }
    }
}
