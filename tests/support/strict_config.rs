//! A config is read from JSON strictly: a missing field has its default or is an error, and an unknown one is an error.

use burn::config::Config;
use serde_json::{Value, json};

/// Checks a config that `new` made of these required fields.
pub fn check<C: Config>(config: C, required: &[&str]) {
    let name = std::any::type_name::<C>();
    let read = |value: &Value| serde_json::from_value::<C>(value.clone());
    let whole = serde_json::to_value(&config).expect("a config is JSON");
    let same = |found: C| assert_eq!(serde_json::to_value(found).expect("a config is JSON"), whole, "{name}");
    same(read(&whole).expect("what was written should be read"));
    for field in whole.as_object().expect("a config is an object").keys() {
        let mut without = whole.clone();
        without.as_object_mut().expect("an object").remove(field);
        match read(&without) {
            Ok(found) if !required.contains(&field.as_str()) => same(found),
            Err(error) if required.contains(&field.as_str()) => {
                assert_eq!(error.to_string(), format!("missing field `{field}`"), "{name}");
            }
            Ok(_) => panic!("{name} without `{field}` should have been refused"),
            Err(error) => panic!("{name} without `{field}`: {error}"),
        }
    }
    let mut more = whole.clone();
    more["not_a_field"] = json!(true);
    let Err(error) = read(&more) else {
        panic!("{name}: an unknown field should be refused");
    };
    let error = error.to_string();
    assert!(error.starts_with("unknown field `not_a_field`"), "{name}: {error}");
}
