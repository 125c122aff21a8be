//! Arrays as `.npz` files: a ZIP archive that stores one NumPy array uncompressed.

/// A file with the float32 array `array`.
///
/// Formats: NumPy's `.npy` version 1.0 in a ZIP file entry of method 0 (APPNOTE 6.3).
pub(crate) fn float32(shape: &[usize], values: impl Iterator<Item = f32>) -> Vec<u8> {
    let npy = npy(shape, values);
    let name = b"array.npy";
    let mut entry = Vec::new();
    entry.extend(20_u16.to_le_bytes());
    // Flags, method and time; the date is the first one there is.
    entry.extend([0; 6]);
    entry.extend(0x21_u16.to_le_bytes());
    entry.extend(crc32(&npy).to_le_bytes());
    let size = length(npy.len());
    entry.extend(size.to_le_bytes());
    entry.extend(size.to_le_bytes());
    entry.extend((name.len() as u16).to_le_bytes());
    entry.extend(0_u16.to_le_bytes());

    let mut file = b"PK\x03\x04".to_vec();
    file.extend(&entry);
    file.extend(name);
    file.extend(&npy);
    let directory = file.len();
    file.extend(b"PK\x01\x02");
    file.extend(20_u16.to_le_bytes());
    file.extend(&entry);
    // Comment length, disk, attributes and the offset of the entry.
    file.extend([0; 14]);
    file.extend(name);
    let directory_bytes = file.len() - directory;
    file.extend(b"PK\x05\x06");
    file.extend([0; 4]);
    file.extend([1, 0, 1, 0]);
    file.extend(length(directory_bytes).to_le_bytes());
    file.extend(length(directory).to_le_bytes());
    file.extend([0; 2]);
    file
}

fn npy(shape: &[usize], values: impl Iterator<Item = f32>) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(|length| format!("{length},")).collect();
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape.join(" "));
    // The data begins at a multiple of 64, after ten bytes, the header and a newline.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(values.flat_map(f32::to_le_bytes));
    file
}

/// ZIP counts in 32 bits; the largest picture's points are 48 MiB.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The checksum of ISO 3309, a byte at a time.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut crc = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(u32::MAX, |crc, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn the_parts_lie_where_their_headers_say() {
        let file = float32(&[1, 2, 3], (0..6_u8).map(f32::from));
        let end = file.len() - 22;
        assert_eq!(&file[end..end + 4], b"PK\x05\x06");
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let directory = number(end + 16);
        assert_eq!(&file[directory..directory + 4], b"PK\x01\x02");
        assert_eq!(directory + number(end + 12), end);
        assert_eq!(&file[directory + 46..end], b"array.npy");
        let npy = &file[30 + 9..directory];
        assert_eq!(npy.len(), number(18));
        assert_eq!(crc32(npy) as usize, number(14));
        assert!(npy.starts_with(b"\x93NUMPY\x01\x00"));
        let header = u16::from_le_bytes([npy[8], npy[9]]) as usize;
        assert_eq!((10 + header) % 64, 0);
        assert!(String::from_utf8_lossy(&npy[10..10 + header]).contains("(1, 2, 3,)"));
        assert_eq!(npy[10 + header..].len(), 24);
        assert_eq!(npy[npy.len() - 4..], 5.0_f32.to_le_bytes());
    }
}
