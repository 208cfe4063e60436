//! Reading a plugin's settings.

use serde::de::DeserializeOwned;
use stc_plugin::PluginError;

/// Reads settings; an error names what is wrong with them.
pub(super) fn read<T: DeserializeOwned>(settings: &serde_json::Value) -> Result<T, PluginError> {
    T::deserialize(settings).map_err(|error| PluginError::new(error.to_string()))
}
