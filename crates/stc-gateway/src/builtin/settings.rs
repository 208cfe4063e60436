//! Reading a plugin's settings.

use serde::de::DeserializeOwned;
use stc_plugin::PluginError;

/// Reads settings; without any, all have their defaults.
pub(super) fn read<T: DeserializeOwned>(settings: &serde_json::Value) -> Result<T, PluginError> {
    let none = serde_json::Value::Object(serde_json::Map::new());
    T::deserialize(if settings.is_null() { &none } else { settings })
        .map_err(|error| PluginError::new(error.to_string()))
}
