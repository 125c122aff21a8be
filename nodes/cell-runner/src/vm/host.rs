//! `_host`: what the Python side of a cell asks its node for, and what it asks
//! this program: sources, and which modules there are.

pub(super) use _host::module_def;

/// Python modules that come with a cell and are loaded when it imports them.
fn source_of(module: &str) -> Option<&'static str> {
    Some(match module {
        "PIL" => include_str!("python/pil.py"),
        "PIL.Image" => include_str!("python/pil_image.py"),
        "PIL.ImageColor" => include_str!("python/pil_color.py"),
        "PIL.ImageDraw" => include_str!("python/pil_draw.py"),
        "PIL.ImageFont" => include_str!("python/pil_font.py"),
        "PIL.ImageOps" => include_str!("python/pil_ops.py"),
        _ => return None,
    })
}

#[rustpython_vm::pymodule]
mod _host {
    use rustpython_vm::builtins::{PyBytesRef, PyStrRef, PyTupleRef};
    use rustpython_vm::{PyResult, VirtualMachine};

    use crate::modules;
    use crate::protocol::{FileRequest, FromChild, Picture};
    use crate::vm::cell;

    /// Why a cell can't import the module; nothing when it can.
    #[pyfunction]
    fn refusal(module: PyStrRef) -> Option<String> {
        let module = module.to_string_lossy();
        (!modules::is_available(&module)).then(|| modules::refusal(&module))
    }

    /// The source of a module that comes with the cell.
    #[pyfunction]
    fn source(module: PyStrRef) -> Option<&'static str> {
        super::source_of(&module.to_string_lossy())
    }

    /// Asks for something about a file; (refusal or None, answer, message).
    #[pyfunction]
    fn file(
        request: PyStrRef,
        path: PyStrRef,
        bytes: PyBytesRef,
        append: bool,
        vm: &VirtualMachine,
    ) -> PyResult<PyTupleRef> {
        let path = path.to_str().map(str::to_owned).ok_or_else(|| {
            vm.new_value_error("a path in the workspace is text without surrogates")
        })?;
        let request = match request.to_str() {
            Some("read") => FileRequest::Read { path },
            Some("write") => FileRequest::Write { path, append },
            Some("list") => FileRequest::List { path },
            Some("stat") => FileRequest::Stat { path },
            Some("make_folder") => FileRequest::MakeFolder { path },
            Some("remove") => FileRequest::Remove { path },
            _ => return Err(vm.new_value_error("there is no such request")),
        };
        cell::ask(|id| FromChild::File { id, request }, bytes.as_bytes(), vm)
    }

    /// Hands a picture over; (refusal or None, None, message).
    #[pyfunction]
    fn display(
        shape: Vec<usize>,
        bytes: PyBytesRef,
        caption: PyStrRef,
        vm: &VirtualMachine,
    ) -> PyResult<PyTupleRef> {
        let caption = crate::text::clip(&caption.to_string_lossy(), MAX_CAPTION);
        let picture = Picture { shape, caption };
        cell::ask(|id| FromChild::Display { id, picture }, bytes.as_bytes(), vm)
    }

    /// Characters kept of a caption.
    const MAX_CAPTION: usize = 200;
}
