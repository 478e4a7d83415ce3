//! What the tasks of an image share.

use std::ops::Range;

use crate::backend::flex::drive::{filter_map, sort_by_key};
use crate::backend::flex::planned::Planned;
use crate::geometry::plan::{AxisPlan, Coordinate, Planner, hull, pixel_count};

/// The regions of an image, in a run of output elements that read the same channels.
pub struct ImageRun<'a, P> {
    pub image: usize,
    /// Rows and columns of the output.
    pub elements: [Range<usize>; 2],
    /// Those that read some pixel, from the top of the map to its bottom.
    pub regions: Vec<RegionRun<'a, P>>,
    /// The largest number of rows of a window.
    pub rows: usize,
    /// The columns of all windows.
    pub columns: Range<usize>,
}

/// A region, in a run of elements.
pub struct RegionRun<'a, P> {
    pub plan: [&'a P; 2],
    /// Its row in the output.
    pub row: usize,
    pub window: [Range<usize>; 2],
}

/// All runs of so many images. `first_region` is the output row of the first planned region.
pub fn image_runs<'a, S: Coordinate, P: AxisPlan<S>>(
    regions: &'a [Planned<[P; 2]>],
    first_region: usize,
    planner: &Planner<S>,
    images: usize,
    parallel: bool,
) -> Vec<ImageRun<'a, P>> {
    let mut all = Vec::new();
    for image in 0..images {
        for rows in planner.runs(0) {
            all.extend(
                planner
                    .runs(1)
                    .into_iter()
                    .map(|columns| (image, [rows.clone(), columns])),
            );
        }
    }
    filter_map(&all, 1, parallel, |_, (image, elements)| {
        Some(ImageRun::new(regions, first_region, *image, elements.clone()))
    })
}

impl<'a, P> ImageRun<'a, P> {
    fn new<S: Coordinate>(
        regions: &'a [Planned<[P; 2]>],
        first_region: usize,
        image: usize,
        elements: [Range<usize>; 2],
    ) -> Self
    where
        P: AxisPlan<S>,
    {
        let in_image = regions.iter().filter(|region| region.image == image);
        let region_runs = in_image.map(|region| RegionRun {
            window: [0, 1].map(|axis| region.plan[axis].window_of(elements[axis].clone())),
            plan: region.plan.each_ref(),
            row: first_region + region.row,
        });
        let mut regions: Vec<_> = region_runs.filter(|region| pixel_count(&region.window) > 0).collect();
        sort_by_key(&mut regions, |region| [region.window[0].start, region.row, 0]);
        Self {
            image,
            elements,
            rows: regions.iter().map(|region| region.window[0].len()).max().unwrap_or(0),
            columns: hull(regions.iter().map(|region| region.window[1].clone())),
            regions,
        }
    }
}
