//! The losses and the measures of a run as a picture.

use std::path::Path;

use find_objects::{Canvas, drawing, pictures};
use image::{Rgb, RgbImage};

use crate::error::Error;
use crate::history::{History, Step};

const WIDTH: u32 = 900;
/// The height of a chart.
const HEIGHT: i64 = 330;
/// The space at the left, the top, the right and the bottom of a chart.
const MARGINS: [i64; 4] = [60, 50, 20, 40];
const PAPER: Rgb<u8> = Rgb([255, 255, 255]);
const INK: Rgb<u8> = Rgb([60, 60, 60]);
/// The points of a line of losses, at most. Each is the mean of as many steps.
const POINTS: usize = 100;

/// A name and points `[step, value]`.
type Line = (String, Vec<[f64; 2]>);

/// Draws the losses above the measures, and writes the picture.
pub fn draw(history: &History, path: &Path) -> Result<(), Error> {
    let steps = history.steps.len();
    let (losses, measures) = (losses(&history.steps), measures(history));
    let values = losses.iter().flat_map(|(_, points)| points);
    let highest = values.map(|[_, value]| *value).fold(1e-3, f64::max);
    let mut canvas = Canvas::new(RgbImage::from_pixel(WIDTH, 2 * HEIGHT as u32, PAPER), 1);
    Chart::new(&mut canvas, 0, steps, highest).lines("losses", &losses);
    Chart::new(&mut canvas, HEIGHT, steps, 1.0).lines("measures", &measures);
    Ok(pictures::write(&canvas.into_picture(), path)?)
}

/// A line for each loss.
fn losses(steps: &[Step]) -> Vec<Line> {
    let names = steps.first().map_or(&[][..], |step| &step.losses);
    let group = steps.len().div_ceil(POINTS).max(1);
    let line = |(place, (name, _)): (usize, &(String, f32))| {
        let points = steps.chunks(group).enumerate().map(|(index, steps)| {
            let sum: f64 = steps.iter().map(|step| f64::from(step.losses[place].1)).sum();
            let middle = (index * group) as f64 + steps.len() as f64 / 2.0;
            [middle, sum / steps.len() as f64]
        });
        (name.strip_prefix("loss_").unwrap_or(name).to_string(), points.collect())
    };
    names.iter().enumerate().map(line).collect()
}

/// A line for AP and for AP50 of each kind.
fn measures(history: &History) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (step, measures) in &history.measures {
        let of_kinds = measures.0.iter().flat_map(|measure| {
            let name = |what| format!("{} {what}", measure.kind);
            [(name("AP"), measure.ap), (name("AP50"), measure.ap50)]
        });
        for (name, value) in of_kinds {
            let point = [*step as f64, value];
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point),
                None => lines.push((name, vec![point])),
            }
        }
    }
    lines
}

/// Axes on a canvas: steps to the right, values upwards.
struct Chart<'a> {
    canvas: &'a mut Canvas,
    /// The first row of pixels.
    top: i64,
    steps: f64,
    highest: f64,
}

impl<'a> Chart<'a> {
    fn new(canvas: &'a mut Canvas, top: i64, steps: usize, highest: f64) -> Self {
        let chart = Self {
            canvas,
            top,
            steps: steps.max(1) as f64,
            highest,
        };
        let [left, bottom] = chart.place([0.0, 0.0]);
        let [right, top] = chart.place([chart.steps, highest]);
        chart.canvas.fill([left, top, left + 1, bottom + 1], INK, 255);
        chart.canvas.fill([left, bottom, right, bottom + 1], INK, 255);
        chart.canvas.text("0", [left - 14, bottom - 8], INK);
        chart.canvas.text(&format!("{highest:.2}"), [left - 40, top - 8], INK);
        let label = format!("{steps} steps");
        let [width, _] = chart.canvas.text_size(&label);
        chart.canvas.text(&label, [right - width, bottom + 8], INK);
        chart
    }

    fn lines(&mut self, title: &str, lines: &[Line]) {
        let [left, top] = self.place([0.0, self.highest]);
        self.canvas.text(title, [left - 40, top - 44], INK);
        let [mut x, mut y] = [left + 60, top - 44];
        for (index, (name, points)) in lines.iter().enumerate() {
            let colour = drawing::colour(index);
            self.line(points, colour);
            let width = 28 + self.canvas.text_size(name)[0];
            if x + width > i64::from(WIDTH) {
                // The nine losses of a cascade need a second row.
                [x, y] = [left + 60, y + 20];
            }
            self.canvas.fill([x, y + 4, x + 10, y + 14], colour, 255);
            self.canvas.text(name, [x + 14, y], INK);
            x += width;
        }
    }

    fn line(&mut self, points: &[[f64; 2]], colour: Rgb<u8>) {
        let places: Vec<[i64; 2]> = points.iter().map(|point| self.place(*point)).collect();
        for pair in places.windows(2) {
            let [[x1, y1], [x2, y2]] = [pair[0], pair[1]];
            let pixels = (x2 - x1).abs().max((y2 - y1).abs()).max(1);
            for pixel in 0..=pixels {
                let [x, y] = [x1 + (x2 - x1) * pixel / pixels, y1 + (y2 - y1) * pixel / pixels];
                self.canvas.fill([x, y, x + 2, y + 2], colour, 255);
            }
        }
        for [x, y] in places {
            self.canvas.fill([x - 1, y - 1, x + 3, y + 3], colour, 255);
        }
    }

    /// The pixel of a point.
    fn place(&self, [step, value]: [f64; 2]) -> [i64; 2] {
        let [left, top, right, bottom] = MARGINS;
        let [width, height] = [i64::from(WIDTH) - left - right, HEIGHT - top - bottom];
        let x = step / self.steps * width as f64;
        let y = (1.0 - value / self.highest) * height as f64;
        [left + x.round() as i64, self.top + top + y.round() as i64]
    }
}
