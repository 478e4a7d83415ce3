//! Panics, in words for the page.

use std::panic;

use js_sys::Function;
use wasm_bindgen::prelude::*;

/// Calls `report` with the text of a panic. After one nothing of this module can be called again, and the promise that
/// was waited for never settles.
#[wasm_bindgen(js_name = onPanic)]
pub fn on_panic(report: Function) {
    panic::set_hook(Box::new(move |information| {
        let text = JsValue::from_str(&information.to_string());
        // The page shows the text if it can. There is nobody else to tell.
        let _ = report.call1(&JsValue::NULL, &text);
    }));
}
