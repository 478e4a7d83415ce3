//! The table that pycocotools prints.

use std::fmt::{Display, Formatter, Result};

use super::{CocoEvaluation, CocoKind};

/// A row: whether it is of precision, its threshold if it has one, its range of areas, how many detections count, and
/// its value.
type Row = (bool, Option<f64>, &'static str, usize, Option<f64>);

impl Display for CocoEvaluation {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        let thresholds = &self.config.iou_thresholds;
        let every = match (thresholds.first(), thresholds.last()) {
            (Some(first), Some(last)) => format!("{first:.2}:{last:.2}"),
            _ => String::new(),
        };
        for (index, (is_precision, threshold, area, most, value)) in self.rows().into_iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            let (title, short) = match is_precision {
                true => ("Average Precision", "(AP)"),
                false => ("Average Recall", "(AR)"),
            };
            let thresholds = threshold.map_or_else(|| every.clone(), |threshold| format!("{threshold:.2}"));
            let value = value.unwrap_or(-1.0);
            write!(
                formatter,
                " {title:<18} {short} @[ IoU={thresholds:<9} | area={area:>6} | maxDets={most:>3} ] = {value:.3}"
            )?;
        }
        Ok(())
    }
}

impl CocoEvaluation {
    fn rows(&self) -> Vec<Row> {
        let metrics = &self.metrics;
        let most = metrics
            .ar_by_max_detections
            .last()
            .map_or(0, |recall| recall.max_detections);
        let is_keypoints = self.config.kind == CocoKind::Keypoints;
        let of_areas = |is_precision, small, medium, large| {
            let areas = [("small", small), ("medium", medium), ("large", large)];
            let shown = areas.into_iter().skip(usize::from(is_keypoints));
            shown.map(move |(area, value)| (is_precision, None, area, most, value))
        };

        let mut rows = vec![
            (true, None, "all", most, metrics.ap),
            (true, Some(0.5), "all", most, metrics.ap50),
            (true, Some(0.75), "all", most, metrics.ap75),
        ];
        rows.extend(of_areas(true, metrics.ap_small, metrics.ap_medium, metrics.ap_large));
        let recalls = metrics.ar_by_max_detections.iter();
        rows.extend(recalls.map(|recall| (false, None, "all", recall.max_detections, recall.ar)));
        if is_keypoints {
            rows.push((false, Some(0.5), "all", most, metrics.ar50));
            rows.push((false, Some(0.75), "all", most, metrics.ar75));
        }
        rows.extend(of_areas(false, metrics.ar_small, metrics.ar_medium, metrics.ar_large));
        rows
    }
}
