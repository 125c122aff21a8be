//! EGL contexts without a window or a display server, on a device of one's choice.

use std::num::NonZeroU32;

use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device;
use glutin::api::egl::display::Display;
use glutin::api::egl::surface::Surface;
use glutin::config::{ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, Version};
use glutin::prelude::{GlDisplay as _, NotCurrentGlContext as _, PossiblyCurrentGlContext as _};
use glutin::surface::{PbufferSurface, SurfaceAttributesBuilder};

/// No context could be made.
#[derive(Debug, thiserror::Error)]
pub enum EglError {
    /// No device gives one.
    #[error(
        "no EGL context for rendering ({0}): install the Debian packages libegl1 and libgl1-mesa-dri"
    )]
    None(String),
    /// EGL does not list the device that was asked for.
    #[error("EGL lists no device {asked:?}: it lists {}", .listed.join(", "))]
    NoDevice {
        /// What was asked for.
        asked: String,
        /// Number and name of each device.
        listed: Vec<String>,
    },
    /// The device that was asked for gives none.
    #[error("the EGL device {device:?} gives no context: {reason}")]
    Refused {
        /// Its name.
        device: String,
        /// EGL's words.
        reason: String,
    },
}

/// Which of EGL's devices draws.
///
/// EGL's own list counts, whatever `CUDA_VISIBLE_DEVICES` says; a GPU usually comes
/// before Mesa's software device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EglDevice {
    /// The first that gives a context.
    #[default]
    Any,
    /// Its number in EGL's list.
    Number(usize),
    /// A part of its name, case aside; the first one that has it.
    Named(String),
}

impl EglDevice {
    /// From a setting: a number, a part of a name, or nothing for any.
    pub fn parse(setting: Option<&str>) -> Self {
        match setting.map(str::trim) {
            None | Some("") => Self::Any,
            Some(text) => {
                text.parse().map_or_else(|_| Self::Named(text.to_lowercase()), Self::Number)
            }
        }
    }

    /// Whether it gives a context; takes some 0.1 s.
    ///
    /// # Errors
    /// [`EglError`] says what to do.
    pub fn check(&self) -> Result<(), EglError> {
        Egl::open(self).map(drop)
    }

    fn is(&self, number: usize, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Number(asked) => *asked == number,
            Self::Named(asked) => name.to_lowercase().contains(asked),
        }
    }
}

impl std::fmt::Display for EglDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Number(number) => number.fmt(f),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// Names of the devices that EGL lists, in its order.
///
/// # Errors
/// [`EglError::None`] without EGL.
pub fn devices() -> Result<Vec<String>, EglError> {
    Ok(query()?.iter().map(name).collect())
}

/// A context that belongs to the thread that made it.
pub(crate) struct Egl {
    context: PossiblyCurrentContext,
    surface: Surface<PbufferSurface>,
}

impl Egl {
    pub(crate) fn open(choice: &EglDevice) -> Result<Self, EglError> {
        let devices = query()?;
        let mut refused = None;
        for (number, device) in devices.iter().enumerate() {
            let name = name(device);
            if !choice.is(number, &name) {
                continue;
            }
            match Self::on(device) {
                Ok(egl) => {
                    tracing::debug!(number, name, "EGL context");
                    return Ok(egl);
                }
                Err(error) => {
                    tracing::debug!(number, name, %error, "EGL device gives no context");
                    refused = Some(EglError::Refused { device: name, reason: error.to_string() });
                }
            }
        }
        let listed =
            devices.iter().enumerate().map(|(n, device)| format!("{n} ({})", name(device)));
        Err(match (choice, refused) {
            (EglDevice::Any, None) => EglError::None("EGL lists no device".to_owned()),
            (EglDevice::Any, Some(refused)) => EglError::None(refused.to_string()),
            (_, Some(refused)) => refused,
            (asked, None) => {
                EglError::NoDevice { asked: asked.to_string(), listed: listed.collect() }
            }
        })
    }

    fn on(device: &Device) -> glutin::error::Result<Self> {
        let attributes = ContextAttributesBuilder::new()
            .with_profile(GlProfile::Compatibility)
            .with_context_api(ContextApi::OpenGl(Some(Version::new(2, 0))))
            .build(None);
        let config = ConfigTemplateBuilder::new()
            .with_surface_type(ConfigSurfaceTypes::PBUFFER)
            .with_alpha_size(0)
            .with_depth_size(24)
            .with_stencil_size(8)
            .build();
        // Pictures are drawn into MuJoCo's own buffer; the surface only has to exist.
        let one = NonZeroU32::MIN;
        let surface = SurfaceAttributesBuilder::<PbufferSurface>::new().build(one, one);
        // SAFETY: device, display and config are those glutin gave, and no native window is used.
        unsafe {
            let display = Display::with_device(device, None)?;
            let config = display
                .find_configs(config)?
                .next()
                .ok_or_else(|| glutin::error::Error::from(glutin::error::ErrorKind::BadConfig))?;
            let context = display.create_context(&config, &attributes)?;
            let surface = display.create_pbuffer_surface(&config, &surface)?;
            Ok(Egl { context: context.make_current(&surface)?, surface })
        }
    }

    /// Another context may have been current on this thread since.
    pub(crate) fn make_current(&self) {
        if !self.context.is_current()
            && let Err(error) = self.context.make_current(&self.surface)
        {
            tracing::error!(%error, "the EGL context was lost");
        }
    }
}

fn query() -> Result<Vec<Device>, EglError> {
    let devices = Device::query_devices().map_err(|error| EglError::None(error.to_string()))?;
    Ok(devices.collect())
}

/// What EGL says of a device: vendor, renderer and device file, as far as it tells.
fn name(device: &Device) -> String {
    let software = device.extensions().contains("EGL_MESA_device_software");
    let file = device.drm_render_device_node_path().or_else(|| device.drm_device_node_path());
    let words = [
        device.vendor().map(str::to_owned),
        device.name().map(str::to_owned),
        software.then(|| "software".to_owned()),
        file.map(|file| file.display().to_string()),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    if words.is_empty() { "unnamed".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_a_device_by_number_or_name() {
        assert_eq!(EglDevice::parse(None), EglDevice::Any);
        assert_eq!(EglDevice::parse(Some(" ")), EglDevice::Any);
        assert_eq!(EglDevice::parse(Some("1")), EglDevice::Number(1));
        let named = EglDevice::parse(Some("renderD128"));
        assert!(named.is(0, "NVIDIA /dev/dri/renderD128") && !named.is(0, "Mesa software"));
        assert!(EglDevice::Number(1).is(1, "x") && !EglDevice::Number(1).is(0, "x"));
    }
}
