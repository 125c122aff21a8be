//! Values that can be read off the source.

use ruaflow_robots::{Arg, RobotApi};
use ruff_python_ast::{Expr, Number, UnaryOp};

/// The value of an expression, if it is written out.
pub(super) fn value(expression: &Expr, api: &RobotApi) -> Option<Arg> {
    match expression {
        Expr::NoneLiteral(_) => Some(Arg::None),
        Expr::BooleanLiteral(literal) => Some(Arg::Bool(literal.value)),
        Expr::StringLiteral(literal) => Some(Arg::Str(literal.value.to_str().to_owned())),
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(int) => int.as_i64().map(Arg::Int),
            Number::Float(float) => Some(Arg::Float(*float)),
            Number::Complex { .. } => Some(Arg::Other("complex".to_owned())),
        },
        Expr::UnaryOp(unary) => match (unary.op, value(&unary.operand, api)?) {
            (UnaryOp::USub, Arg::Int(int)) => Some(Arg::Int(int.checked_neg()?)),
            (UnaryOp::USub, Arg::Float(float)) => Some(Arg::Float(-float)),
            (UnaryOp::UAdd, number @ (Arg::Int(_) | Arg::Float(_))) => Some(number),
            _ => None,
        },
        Expr::List(list) => items(&list.elts, api),
        Expr::Tuple(tuple) => items(&tuple.elts, api),
        Expr::Dict(_) => Some(Arg::Other("dict".to_owned())),
        Expr::Set(_) => Some(Arg::Other("set".to_owned())),
        Expr::Attribute(attribute) => {
            let robo = attribute.value.as_name_expr()?.id == "robo";
            let constant = api.constants.iter().find(|known| known.name == attribute.attr.as_str());
            constant.filter(|_| robo).map(|constant| Arg::Float(constant.value))
        }
        _ => None,
    }
}

fn items(items: &[Expr], api: &RobotApi) -> Option<Arg> {
    items.iter().map(|item| value(item, api)).collect::<Option<_>>().map(Arg::List)
}
