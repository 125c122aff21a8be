//! `_pil`: the native part of a cell's `PIL`. Pictures are `uint8` arrays of
//! height x width, or of height x width x channels.

pub(super) use _pil::module_def;

#[rustpython_vm::pymodule]
mod _pil {
    use std::io::Cursor;

    use image::codecs::jpeg::JpegEncoder;
    use image::codecs::png::PngEncoder;
    use image::{
        DynamicImage, ExtendedColorType, ImageEncoder as _, ImageFormat, ImageReader, Limits,
    };
    use image_codec::{Filter, Pixels, Region};
    use ruaflow_array::{Array, DType};
    use rustpython_vm::builtins::{PyBytesRef, PyStrRef, PyTupleRef};
    use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

    use crate::vm::pixels::{self, Grid, Mode, Sampling};

    /// A picture's pixels with their shape.
    struct Picture {
        bytes: Vec<u8>,
        width: usize,
        height: usize,
        /// Also whether the array has an axis for them.
        channels: Option<usize>,
    }

    impl Picture {
        fn from_python(object: &PyObjectRef, vm: &VirtualMachine) -> PyResult<Self> {
            let array = ruaflow_numpy::from_python(object)
                .filter(|array| array.dtype() == DType::U8)
                .ok_or_else(|| vm.new_type_error("a picture is an array of uint8"))?;
            let (height, width, channels) = match array.shape() {
                [height, width] => (*height, *width, None),
                [height, width, channels @ 1..=4] => (*height, *width, Some(*channels)),
                _ => return Err(vm.new_value_error("this shape is no picture's")),
            };
            let bytes =
                array.to_vec::<u8>().map_err(|error| vm.new_value_error(error.to_string()))?;
            Ok(Self { bytes, width, height, channels })
        }

        fn channels(&self) -> usize {
            self.channels.unwrap_or(1)
        }

        fn grid(&self) -> Grid<'_> {
            let (width, height, channels) = (self.width, self.height, self.channels());
            Grid { width, height, channels, bytes: &self.bytes }
        }

        /// Pixels of the same kind in another size, or of another kind.
        fn like(
            &self,
            bytes: Vec<u8>,
            width: usize,
            height: usize,
            vm: &VirtualMachine,
        ) -> PyResult<PyObjectRef> {
            array(bytes, width, height, self.channels, vm)
        }
    }

    fn array(
        bytes: Vec<u8>,
        width: usize,
        height: usize,
        channels: Option<usize>,
        vm: &VirtualMachine,
    ) -> PyResult<PyObjectRef> {
        let shape: Vec<usize> = [height, width].into_iter().chain(channels).collect();
        let array = Array::from_vec(bytes, &shape)
            .map_err(|error| vm.new_value_error(error.to_string()))?;
        Ok(ruaflow_numpy::to_python(array, vm))
    }

    fn mode(name: &PyStrRef, vm: &VirtualMachine) -> PyResult<Mode> {
        name.to_str()
            .and_then(Mode::from_name)
            .ok_or_else(|| vm.new_value_error("this mode is not there"))
    }

    /// (width, height).
    fn size_of(tuple: &PyTupleRef, vm: &VirtualMachine) -> PyResult<(usize, usize)> {
        let sides = tuple.iter().map(|side| side.clone().try_into_value::<usize>(vm));
        match sides.collect::<PyResult<Vec<usize>>>()?[..] {
            [width, height] => Ok((width, height)),
            _ => Err(vm.new_value_error("a size is a width and a height")),
        }
    }

    fn pair(pair: (usize, usize), vm: &VirtualMachine) -> PyResult<(u32, u32)> {
        let side = |side| u32::try_from(side).map_err(|_| vm.new_value_error("too large"));
        Ok((side(pair.0)?, side(pair.1)?))
    }

    fn numbers<const N: usize>(tuple: &PyTupleRef, vm: &VirtualMachine) -> PyResult<[f64; N]> {
        let numbers = tuple.iter().map(|item| item.try_float(vm).map(|float| float.to_f64()));
        let numbers: Vec<f64> = numbers.collect::<PyResult<_>>()?;
        <[f64; N]>::try_from(numbers)
            .map_err(|_| vm.new_value_error(format!("{N} numbers are needed")))
    }

    /// Scales the part `region`, (left, top, right, bottom), to (width, height).
    #[pyfunction]
    fn resize(
        picture: PyObjectRef,
        size: PyTupleRef,
        filter: PyStrRef,
        region: PyTupleRef,
        vm: &VirtualMachine,
    ) -> PyResult<PyObjectRef> {
        let picture = Picture::from_python(&picture, vm)?;
        let (old_width, old_height) = pair((picture.width, picture.height), vm)?;
        let size = size_of(&size, vm)?;
        let (width, height) = pair(size, vm)?;
        let filter = match filter.to_str() {
            Some("nearest") => Filter::Nearest,
            Some("box") => Filter::Box,
            Some("bilinear") => Filter::Bilinear,
            Some("hamming") => Filter::Hamming,
            Some("bicubic") => Filter::Bicubic,
            Some("lanczos") => Filter::Lanczos,
            _ => return Err(vm.new_value_error("this filter is not there")),
        };
        let pixels = Pixels {
            width: old_width,
            height: old_height,
            channels: picture.channels(),
            bytes: &picture.bytes,
        };
        let [left, top, right, bottom] = numbers(&region, vm)?;
        let region = Region { left, top, right, bottom };
        let resized = image_codec::resize_region(pixels, region, width, height, filter)
            .map_err(|error| vm.new_value_error(error.to_string()))?;
        picture.like(resized, size.0, size.1, vm)
    }

    /// A picture of (width, height) whose pixels are looked up through the matrix.
    #[pyfunction]
    fn affine(
        picture: PyObjectRef,
        size: PyTupleRef,
        matrix: PyTupleRef,
        sampling: PyStrRef,
        fill: PyBytesRef,
        vm: &VirtualMachine,
    ) -> PyResult<PyObjectRef> {
        let picture = Picture::from_python(&picture, vm)?;
        let (width, height) = size_of(&size, vm)?;
        if width.max(height) > image_codec::MAX_SIDE as usize {
            return Err(vm.new_value_error("the picture would be too large"));
        }
        let sampling = match sampling.to_str() {
            Some("nearest") => Sampling::Nearest,
            Some("bilinear") => Sampling::Bilinear,
            Some("bicubic") => Sampling::Bicubic,
            _ => return Err(vm.new_value_error("this filter is not there")),
        };
        if fill.as_bytes().len() != picture.channels() || picture.bytes.is_empty() {
            return Err(vm.new_value_error("the fill colour is no pixel of this picture"));
        }
        let matrix = numbers(&matrix, vm)?;
        let turned =
            pixels::affine(picture.grid(), width, height, matrix, sampling, fill.as_bytes());
        picture.like(turned, width, height, vm)
    }

    #[pyfunction]
    fn convert(
        picture: PyObjectRef,
        from: PyStrRef,
        to: PyStrRef,
        dithered: bool,
        vm: &VirtualMachine,
    ) -> PyResult<PyObjectRef> {
        let picture = Picture::from_python(&picture, vm)?;
        let (from, to) = (mode(&from, vm)?, mode(&to, vm)?);
        if from.channels() != picture.channels() {
            return Err(vm.new_value_error("the picture is not of this mode"));
        }
        let bytes = pixels::convert(&picture.bytes, picture.width, from, to, dithered);
        let channels = Some(to.channels()).filter(|channels| *channels > 1);
        array(bytes, picture.width, picture.height, channels, vm)
    }

    #[pyfunction]
    fn premultiply(picture: PyObjectRef, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let picture = rgba(&picture, vm)?;
        picture.like(pixels::premultiply(&picture.bytes), picture.width, picture.height, vm)
    }

    #[pyfunction]
    fn unmultiply(picture: PyObjectRef, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let picture = rgba(&picture, vm)?;
        picture.like(pixels::unmultiply(&picture.bytes), picture.width, picture.height, vm)
    }

    fn rgba(picture: &PyObjectRef, vm: &VirtualMachine) -> PyResult<Picture> {
        let picture = Picture::from_python(picture, vm)?;
        if picture.channels != Some(4) {
            return Err(vm.new_value_error("the picture has no alpha channel"));
        }
        Ok(picture)
    }

    #[pyfunction]
    fn blend(
        below: PyObjectRef,
        above: PyObjectRef,
        mask: PyObjectRef,
        vm: &VirtualMachine,
    ) -> PyResult<PyObjectRef> {
        let picture = |object| Picture::from_python(object, vm);
        let (below, above, mask) = (picture(&below)?, picture(&above)?, picture(&mask)?);
        let fits = above.bytes.len() == below.bytes.len()
            && mask.channels() == 1
            && (mask.width, mask.height) == (below.width, below.height);
        if !fits {
            return Err(vm.new_value_error("images do not match"));
        }
        let mixed = pixels::blend(&below.bytes, &above.bytes, &mask.bytes);
        below.like(mixed, below.width, below.height, vm)
    }

    #[pyfunction]
    fn pack_bits(picture: PyObjectRef, vm: &VirtualMachine) -> PyResult<Vec<u8>> {
        let picture = Picture::from_python(&picture, vm)?;
        Ok(pixels::pack_bits(&picture.bytes, picture.width))
    }

    #[pyfunction]
    fn from_bytes(
        bytes: PyBytesRef,
        width: usize,
        height: usize,
        channels: usize,
        vm: &VirtualMachine,
    ) -> PyResult<PyObjectRef> {
        if width.checked_mul(height).and_then(|n| n.checked_mul(channels))
            != Some(bytes.as_bytes().len())
        {
            return Err(vm.new_value_error("not enough image data, or too much"));
        }
        let channels = Some(channels).filter(|channels| *channels > 1);
        array(bytes.as_bytes().to_vec(), width, height, channels, vm)
    }

    /// A PNG, or a JPEG of the given quality.
    #[pyfunction]
    fn encode(
        picture: PyObjectRef,
        format: PyStrRef,
        quality: u8,
        vm: &VirtualMachine,
    ) -> PyResult<Vec<u8>> {
        let picture = Picture::from_python(&picture, vm)?;
        let (width, height) = pair((picture.width, picture.height), vm)?;
        let color = match picture.channels() {
            1 => ExtendedColorType::L8,
            4 => ExtendedColorType::Rgba8,
            _ => ExtendedColorType::Rgb8,
        };
        let mut file = Vec::new();
        let written = match format.to_str() {
            Some("jpeg") => JpegEncoder::new_with_quality(&mut file, quality.clamp(1, 100))
                .write_image(&picture.bytes, width, height, color),
            _ => PngEncoder::new(&mut file).write_image(&picture.bytes, width, height, color),
        };
        written.map_err(|error| vm.new_value_error(error.to_string()))?;
        Ok(file)
    }

    /// (mode, pixels) of a PNG or JPEG.
    #[pyfunction]
    fn decode(bytes: PyBytesRef, vm: &VirtualMachine) -> PyResult<PyTupleRef> {
        let format = match image::guess_format(bytes.as_bytes()) {
            Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => format,
            _ => return Err(vm.new_value_error("it is neither PNG nor JPEG")),
        };
        let mut limits = Limits::default();
        limits.max_image_width = Some(image_codec::MAX_SIDE);
        limits.max_image_height = Some(image_codec::MAX_SIDE);
        let mut reader = ImageReader::with_format(Cursor::new(bytes.as_bytes()), format);
        reader.limits(limits);
        let decoded = reader.decode().map_err(|error| vm.new_value_error(error.to_string()))?;
        let (width, height) = (decoded.width() as usize, decoded.height() as usize);
        let (mode, channels, bytes) = match decoded {
            DynamicImage::ImageLuma8(grey) => ("L", None, grey.into_raw()),
            DynamicImage::ImageRgba8(rgba) => ("RGBA", Some(4), rgba.into_raw()),
            other => ("RGB", Some(3), other.into_rgb8().into_raw()),
        };
        let pixels = array(bytes, width, height, channels, vm)?;
        Ok(vm.ctx.new_tuple(vec![vm.ctx.new_str(mode).into(), pixels]))
    }
}
