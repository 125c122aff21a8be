//! Times of the engine's loops on an image of 1024 x 1024 x 3, in milliseconds, the best of
//! several: `./rua cargo run -p ruaflow-array --example speed`.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use ruaflow_array::index::Index;
use ruaflow_array::reduce::{Options, Reduction, argmax, reduce};
use ruaflow_array::shape::broadcast_arrays;
use ruaflow_array::ufunc::{Binary, Unary, clip, map1, map2};
use ruaflow_array::{Array, DType};

type Outcome = Result<(), Box<dyn Error>>;

fn time(name: &str, mut work: impl FnMut() -> Outcome) -> Outcome {
    work()?;
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("{name:<28} {best:8.3}");
    Ok(())
}

fn main() -> Outcome {
    let shape = [1024, 1024, 3];
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| ((i * 2_654_435_761) % 1_000_003) as f64 / 1_000_003.0 - 0.5);
    let a = Array::from_vec(values.collect::<Vec<f64>>(), &shape)?;
    let f = a.cast(DType::F32)?;
    let bytes = map2(Binary::Multiply, &a, 500.0)?.cast(DType::U8)?;
    let mask = map2(Binary::Greater, &a, 0.2)?;
    let row = Array::vector(vec![1.0, 2.0, 3.0]);
    let z = a.index(&[Index::Ellipsis, Index::Int(2)])?;
    let plane = map2(Binary::Greater, &z, 0.1)?;
    let over = |op, array: &Array, axis: Option<&[i64]>| -> Outcome {
        black_box(reduce(op, array, axis, &Options::default())?);
        Ok(())
    };

    time("a*2+1 f64", || {
        black_box(map2(Binary::Add, map2(Binary::Multiply, &a, 2.0)?, 1.0)?);
        Ok(())
    })?;
    time("a*2+1 f32", || {
        black_box(map2(Binary::Add, map2(Binary::Multiply, &f, 2.0)?, 1.0)?);
        Ok(())
    })?;
    for (name, op) in [("a+a", Binary::Add), ("a/a", Binary::Divide), ("a>a", Binary::Greater)] {
        time(name, || {
            black_box(map2(op, &a, &a)?);
            Ok(())
        })?;
    }
    time("a - row", || {
        black_box(map2(Binary::Subtract, &a, &row)?);
        Ok(())
    })?;
    time("u8*1.5", || {
        black_box(map2(Binary::Multiply, &bytes, 1.5)?);
        Ok(())
    })?;
    time("u8>100", || {
        black_box(map2(Binary::Greater, &bytes, 100i64)?);
        Ok(())
    })?;
    time("(a>.1)&(a<.3)", || {
        let low = map2(Binary::Greater, &a, 0.1)?;
        black_box(map2(Binary::BitwiseAnd, low, map2(Binary::Less, &a, 0.3)?)?);
        Ok(())
    })?;
    for op in [Unary::Sqrt, Unary::Absolute, Unary::Isfinite, Unary::Exp, Unary::Sin] {
        time(op.name(), || {
            black_box(map1(op, map1(Unary::Absolute, &a)?)?);
            Ok(())
        })?;
    }
    time("clip", || {
        black_box(clip(&(&a).into(), Some(&0.0.into()), Some(&0.2.into()), &Default::default())?);
        Ok(())
    })?;
    time("a[mask]", || {
        black_box(a.index(&[Index::Mask(mask.clone())])?);
        Ok(())
    })?;
    time("a[plane mask]", || {
        black_box(a.index(&[Index::Mask(plane.clone())])?);
        Ok(())
    })?;
    time("a[mask]=0", || {
        a.assign(&[Index::Mask(mask.clone())], &0.25.into())?;
        Ok(())
    })?;
    time("astype u8", || {
        black_box(f.astype(DType::U8)?);
        Ok(())
    })?;
    time("copy", || {
        black_box(a.copy()?);
        Ok(())
    })?;
    time("transpose copy", || {
        black_box(a.transpose(Some(&[2, 0, 1]))?.copy()?);
        Ok(())
    })?;
    for (name, op) in [
        ("sum", Reduction::Sum),
        ("mean", Reduction::Mean),
        ("std", Reduction::Std),
        ("max", Reduction::Max),
        ("nanmax", Reduction::NanMax),
        ("nanmean", Reduction::NanMean),
        ("count_nonzero", Reduction::CountNonzero),
        ("any", Reduction::Any),
    ] {
        time(name, || over(op, &a, None))?;
    }
    time("max f32", || over(Reduction::Max, &f, None))?;
    time("sum u8", || over(Reduction::Sum, &bytes, None))?;
    time("mean axis 0 1", || over(Reduction::Mean, &a, Some(&[0, 1])))?;
    time("mean axis 0", || over(Reduction::Mean, &a, Some(&[0])))?;
    time("mean axis 2", || over(Reduction::Mean, &a, Some(&[2])))?;
    time("max axis 2", || over(Reduction::Max, &a, Some(&[2])))?;
    time("isfinite all axis 2", || over(Reduction::All, &map1(Unary::Isfinite, &a)?, Some(&[2])))?;
    time("argmax", || {
        black_box(argmax(&a, None, false)?);
        Ok(())
    })?;
    time("broadcast_arrays", || {
        black_box(broadcast_arrays(&[a.clone(), row.clone()])?);
        Ok(())
    })
}
