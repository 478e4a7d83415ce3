//! The regions to cut out, and the colours that mark them.

use image::Rgb;

/// A region of the photograph.
pub struct Region {
    pub name: &'static str,
    /// `[x1, y1, x2, y2]` in pixels.
    pub corners: [f32; 4],
    pub colour: Rgb<u8>,
}

/// Width and height of `photograph.jpg`. The regions are in its pixels.
const PHOTOGRAPH: [u32; 2] = [512, 512];

const REGIONS: [Region; 5] = [
    region("face", [146, 26, 306, 186], [214, 39, 143]),
    region("flag", [0, 36, 84, 150], [20, 140, 72]),
    region("space shuttle", [344, 64, 468, 284], [31, 98, 214]),
    region("mission patch", [126, 340, 216, 430], [0, 140, 150]),
    region("helmet", [274, 338, 508, 508], [122, 62, 220]),
];

const fn region(name: &'static str, corners: [u16; 4], colour: [u8; 3]) -> Region {
    let [x1, y1, x2, y2] = corners;
    Region {
        name,
        corners: [x1 as f32, y1 as f32, x2 as f32, y2 as f32],
        colour: Rgb(colour),
    }
}

/// The regions, scaled to a photograph of that width and height.
pub fn on_photograph((width, height): (u32, u32)) -> [Region; 5] {
    let scale_x = width as f32 / PHOTOGRAPH[0] as f32;
    let scale_y = height as f32 / PHOTOGRAPH[1] as f32;
    REGIONS.map(|region| Region {
        corners: scaled(region.corners, [scale_x, scale_y]),
        ..region
    })
}

/// A box with its x and y coordinates multiplied.
pub fn scaled([x1, y1, x2, y2]: [f32; 4], [x, y]: [f32; 2]) -> [f32; 4] {
    [x1 * x, y1 * y, x2 * x, y2 * y]
}
