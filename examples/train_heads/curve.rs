//! The losses of a run as a picture: a dot for each step, and lines for the means of each epoch.

use std::path::Path;

use burn::train::logger::{FileMetricLogger, MetricLogger};
use burn::train::metric::NumericEntry;
use burn::train::metric::store::Split;
use detection_head::canvas::Canvas;
use detection_head::pictures;
use image::{Rgb, RgbImage};

use crate::error::Error;
use crate::learning::LOSS;

const SIZE: [u32; 2] = [800, 400];
/// The space at the left, the top, the right and the bottom.
const MARGINS: [i64; 4] = [60, 30, 20, 40];
const PAPER: Rgb<u8> = Rgb([255, 255, 255]);
const INK: Rgb<u8> = Rgb([60, 60, 60]);
const STEP: Rgb<u8> = Rgb([190, 200, 215]);
const TRAINING: Rgb<u8> = Rgb([31, 98, 214]);
const HELD_OUT: Rgb<u8> = Rgb([200, 80, 10]);

/// The losses that the learner has logged.
pub struct Losses {
    /// Of each step of each epoch.
    steps: Vec<Vec<f64>>,
    /// The mean of each epoch, of pictures that are not trained on.
    held_out: Vec<f64>,
}

impl Losses {
    /// Reads the logs of a run of so many epochs.
    pub fn read(folder: &Path, epochs: usize) -> Self {
        let mut logger = FileMetricLogger::new(folder);
        let mut of_epochs = |split: Split| -> Vec<Vec<f64>> {
            // An epoch without a readable log has no dots. Training is not lost for that.
            let logs = (1..=epochs).map(|epoch| logger.read_numeric(LOSS, epoch, &split).unwrap_or_default());
            logs.map(values).collect()
        };
        Self {
            steps: of_epochs(Split::Train),
            held_out: of_epochs(Split::Valid).iter().map(|losses| mean(losses)).collect(),
        }
    }

    /// Draws the losses, and writes the picture.
    pub fn draw(&self, path: &Path) -> Result<(), Error> {
        let highest = self.steps.iter().flatten().copied().fold(0.0, f64::max).max(1e-3);
        let mut chart = Chart::new(self.steps.len(), highest);
        for (epoch, losses) in self.steps.iter().enumerate() {
            for (step, &loss) in losses.iter().enumerate() {
                chart.dot(epoch as f64 + (step as f64 + 0.5) / losses.len() as f64, loss, 1, STEP);
            }
        }
        let means: Vec<f64> = self.steps.iter().map(|losses| mean(losses)).collect();
        chart.line(&means, TRAINING);
        chart.line(&self.held_out, HELD_OUT);
        chart.legend(&[
            ("step", STEP),
            ("mean of an epoch", TRAINING),
            ("pictures not trained on", HELD_OUT),
        ]);
        Ok(pictures::write(&chart.canvas.into_picture(), path)?)
    }
}

/// The losses of single batches: the log ends with their mean.
fn values(log: Vec<NumericEntry>) -> Vec<f64> {
    let of_batches = log.iter().filter(|entry| !matches!(entry, NumericEntry::Final(_)));
    of_batches.map(NumericEntry::current).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A canvas with axes: epochs to the right, losses upwards.
struct Chart {
    canvas: Canvas,
    epochs: usize,
    highest: f64,
}

impl Chart {
    fn new(epochs: usize, highest: f64) -> Self {
        let mut chart = Self {
            canvas: Canvas::new(RgbImage::from_pixel(SIZE[0], SIZE[1], PAPER), 1),
            epochs,
            highest,
        };
        let [left, bottom] = chart.place(0.0, 0.0);
        let [right, top] = chart.place(epochs as f64, highest);
        chart.canvas.fill([left, top, left + 1, bottom + 1], INK, 255);
        chart.canvas.fill([left, bottom, right, bottom + 1], INK, 255);
        chart.label("0", [left - 14, bottom - 8]);
        chart.label(&format!("{highest:.2}"), [left - 40, top - 8]);
        chart.label("loss", [left - 40, top - 26]);
        chart.label(&format!("{epochs} epochs"), [right - 80, bottom + 8]);
        chart
    }

    /// The pixel of a point.
    fn place(&self, epoch: f64, loss: f64) -> [i64; 2] {
        let [left, top, right, bottom] = MARGINS;
        let [width, height] = [i64::from(SIZE[0]) - left - right, i64::from(SIZE[1]) - top - bottom];
        let x = epoch / self.epochs as f64 * width as f64;
        let y = (1.0 - loss / self.highest) * height as f64;
        [left + x.round() as i64, top + y.round() as i64]
    }

    fn dot(&mut self, epoch: f64, loss: f64, radius: i64, colour: Rgb<u8>) {
        let [x, y] = self.place(epoch, loss);
        self.canvas
            .fill([x - radius, y - radius, x + radius + 1, y + radius + 1], colour, 255);
    }

    /// A line through the means of epochs, each in the middle of its epoch.
    fn line(&mut self, means: &[f64], colour: Rgb<u8>) {
        for (epoch, pair) in means.windows(2).enumerate() {
            const POINTS: usize = 400;
            for point in 0..=POINTS {
                let share = point as f64 / POINTS as f64;
                let loss = pair[0] + (pair[1] - pair[0]) * share;
                self.dot(epoch as f64 + 0.5 + share, loss, 0, colour);
            }
        }
        for (epoch, &loss) in means.iter().enumerate() {
            self.dot(epoch as f64 + 0.5, loss, 2, colour);
        }
    }

    fn legend(&mut self, entries: &[(&str, Rgb<u8>)]) {
        let [mut x, y] = [MARGINS[0] + 60, 8];
        for (text, colour) in entries {
            self.canvas.fill([x, y + 4, x + 10, y + 14], *colour, 255);
            self.label(text, [x + 16, y]);
            x += 40 + self.canvas.text_size(text)[0];
        }
    }

    fn label(&mut self, text: &str, place: [i64; 2]) {
        self.canvas.text(text, place, INK);
    }
}
