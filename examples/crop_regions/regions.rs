//! The regions to cut out, and the colours that mark them.

use image::Rgb;

use crate::canvas::Turned;

/// A region of the photograph.
pub struct Region {
    pub name: &'static str,
    /// `[x1, y1, x2, y2]` in pixels.
    pub corners: [f32; 4],
    pub colour: Rgb<u8>,
}

/// A region that is turned about its centre.
pub struct TurnedRegion {
    pub name: &'static str,
    /// In pixels.
    pub rectangle: Turned,
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

/// The shuttle on the mission patch, whose nose points to the right.
const TURNED_REGION: TurnedRegion = TurnedRegion {
    name: "turned shuttle",
    rectangle: Turned {
        center: [171.0, 399.0],
        sides: [40.0, 56.0],
        degrees: -77.0,
    },
    colour: Rgb([224, 120, 0]),
};

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
    let scale = scale((width, height));
    REGIONS.map(|region| Region {
        corners: scaled(region.corners, scale),
        ..region
    })
}

/// The turned region, scaled to a photograph of that width and height. It keeps its shape and its angle.
pub fn turned_on_photograph(size: (u32, u32)) -> TurnedRegion {
    TurnedRegion {
        rectangle: TURNED_REGION.rectangle.scaled(scale(size)),
        ..TURNED_REGION
    }
}

fn scale((width, height): (u32, u32)) -> [f32; 2] {
    [
        width as f32 / PHOTOGRAPH[0] as f32,
        height as f32 / PHOTOGRAPH[1] as f32,
    ]
}

/// A box with its x and y coordinates multiplied.
pub fn scaled([x1, y1, x2, y2]: [f32; 4], [x, y]: [f32; 2]) -> [f32; 4] {
    [x1 * x, y1 * y, x2 * x, y2 * y]
}
