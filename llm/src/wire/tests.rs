use arbtest::arbitrary::{Result, Unstructured};

use super::*;

#[test]
fn pictures_become_their_digests_and_nothing_else_changes() {
    let image = Image { png: b"png".as_slice().into(), width: 1, height: 1 };
    let digest = format!("sha256:{}", hex(&Sha256::digest(b"png")));
    let messages = [Message::user(vec![Part::text("data:image/, I said"), Part::Image(image)])];
    for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic] {
        let endpoint = Endpoint::new(wire, "http://127.0.0.1:1/v1", "m");
        let (system, tools) = ("", &[][..]);
        let messages = &messages;
        let prompt =
            Prompt { endpoint: &endpoint, system, messages, tools, schema: None, cache: false };
        let mut body = prompt.body();
        let whole = body.to_string();
        mask_pictures(&mut body);
        assert_eq!(body.to_string(), whole.replace("cG5n", &digest), "{wire:?}");
    }
}

/// JSON out of the words that the decoders look for, in places where they don't belong.
fn any_json(u: &mut Unstructured, depth: u32) -> Result<Value> {
    let words = [
        "type",
        "delta",
        "index",
        "content",
        "text",
        "choices",
        "message",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "usage",
        "finish_reason",
        "output",
        "item",
        "response",
        "output_index",
        "content_block",
        "partial_json",
        "signature",
        "thinking",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message_stop",
        "stop_reason",
        "response.output_item.done",
        "response.completed",
        "reasoning",
        "encrypted_content",
        "input_tokens",
        "extra_content",
        "tool_use",
        "function_call",
    ];
    let kinds = if depth == 0 { 4 } else { 6 };
    Ok(match u.int_in_range(0..=kinds)? {
        0 => Value::Null,
        1 => u.arbitrary::<u64>()?.into(),
        2..=4 => (*u.choose(&words)?).into(),
        5 => (0..u.int_in_range(0..=3)?).map(|_| any_json(u, depth - 1)).collect::<Result<_>>()?,
        _ => {
            let mut fields = Map::new();
            for _ in 0..u.int_in_range(0..=5)? {
                fields.insert((*u.choose(&words)?).to_owned(), any_json(u, depth - 1)?);
            }
            Value::Object(fields)
        }
    })
}

#[test]
fn no_event_and_no_body_is_too_odd() {
    arbtest::arbtest(|u| {
        for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic] {
            let mut draft = Draft::default();
            let mut decoder = Decoder::new(wire);
            for _ in 0..u.int_in_range(1..=6)? {
                let data = any_json(u, 4)?.to_string();
                let _ = decoder.event(&Event { name: String::new(), data }, &mut draft);
            }
            let _ = decoder.finish(&mut draft);
            let _ = Decoder::new(wire).whole(&any_json(u, 4)?, &mut draft);
        }
        Ok(())
    });
}
