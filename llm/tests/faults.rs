//! Everything that can go wrong between a client and a model.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ruaflow_llm::testing::{Play, Server, error_body};
use ruaflow_llm::{
    Client, Endpoint, Error, ErrorKind, Message, Part, Reply, Request, Secret, Timeouts, Watch,
    Wire,
};
use serde_json::json;

const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Anthropic];
const SOON: Duration = Duration::from_millis(1);

fn endpoint(wire: Wire, url: &str) -> Endpoint {
    let mut endpoint = Endpoint::new(wire, url, "scripted");
    endpoint.retries.backoff = SOON;
    endpoint.key = Secret::new("sk-very-secret");
    endpoint
}

fn ask(endpoint: Endpoint, watch: &mut dyn Watch) -> Result<Reply, Error> {
    let messages = [Message::user(vec![Part::text("Hello.")])];
    let request = Request { system: "Be brief.", messages: &messages, tools: &[], cache: true };
    let result = Client::new(endpoint).complete(&request, watch);
    if let Err(error) = &result {
        assert!(!format!("{error} {error:?}").contains("very-secret"), "{error:?}");
    }
    result
}

/// Asks a server with a script on each wire.
fn each(script: impl Fn(Wire) -> Vec<Play>, check: impl Fn(Wire, Result<Reply, Error>, &Server)) {
    for wire in WIRES {
        let server = Server::start(script(wire)).unwrap();
        let result = ask(endpoint(wire, &server.url()), &mut ());
        check(wire, result, &server);
    }
}

#[test]
fn failures_that_pass_are_retried_and_booked() {
    let limited = || Play::status(429, error_body("rate_limit_error", "Slow down."));
    let script = |_| {
        vec![
            limited().header("retry-after-ms", "3"),
            limited().header("retry-after", "0.002"),
            Play::status(429, error_body("rate_limit_error", "Please try again in 2ms.")),
            Play::status(500, "oops"),
            Play::status(529, error_body("overloaded_error", "Overloaded")),
            Play::text("Here I am."),
        ]
    };
    each(script, |wire, result, server| {
        let reply = result.unwrap();
        assert_eq!(reply.text(), "Here I am.", "{wire:?}");
        let status: Vec<_> = reply.attempts.iter().map(|attempt| attempt.status.unwrap()).collect();
        assert_eq!(status, [429, 429, 429, 500, 529, 200], "{wire:?}");
        assert!(reply.attempts[0].paused >= Duration::from_millis(3));
        assert!(reply.attempts[2].error.contains("try again in 2ms"));
        let paused = reply.attempts.iter().map(|attempt| attempt.took + attempt.paused);
        let failed: Duration = paused.take(5).sum();
        assert!(reply.timing.waited >= failed, "{:?}", reply.timing);
        assert_eq!(server.left(), 0);
    });
}

#[test]
fn a_server_is_given_up_on_after_so_many_retries() {
    let script = |_| (0..20).map(|_| Play::status(503, "no")).collect();
    each(script, |wire, result, server| {
        let error = result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Overloaded, "{wire:?}");
        assert_eq!(error.attempts.len(), 7);
        assert_eq!(server.left(), 13);
        let text = error.to_string();
        assert!(text.contains(&server.url()) && text.contains("HTTP 503: no"), "{text}");
    });
}

#[test]
fn a_server_that_wants_a_long_rest_is_given_up_on_at_once() {
    let body = error_body("rate_limit_error", "Slow down.");
    let script = |_| vec![Play::status(429, body.clone()).header("retry-after", "3600")];
    each(script, |_, result, _| {
        let error = result.unwrap_err();
        assert_eq!((error.kind, error.attempts.len()), (ErrorKind::RateLimited, 1));
        assert!(error.to_string().contains("3600 s of rest"), "{error}");
    });
}

#[test]
fn a_reply_that_breaks_off_is_asked_for_again_and_nothing_of_it_is_kept() {
    struct Seen(String, u32);
    impl Watch for Seen {
        fn text(&mut self, more: &str) {
            self.0 += more;
        }
        fn retry(&mut self, _why: &str, _pause: Duration) {
            self.0.clear();
            self.1 += 1;
        }
    }
    let text = "A long text that will break off somewhere in its middle.";
    for wire in WIRES {
        let plays = [
            Play::text(text).broken_after(0),
            Play::text(text).in_pieces_of(50).broken_after(900),
            Play::text(text).ending_after(700),
            Play::text("Whole."),
        ];
        let server = Server::start(plays).unwrap();
        let mut seen = Seen(String::new(), 0);
        let reply = ask(endpoint(wire, &server.url()), &mut seen).unwrap();
        assert_eq!(reply.parts, [Part::text("Whole.")], "{wire:?}");
        assert_eq!((seen.0.as_str(), seen.1), ("Whole.", 3), "{wire:?}");
        let errors: Vec<_> = reply.attempts.iter().map(|attempt| &attempt.error).collect();
        assert!(errors[2].contains("broke off"), "{wire:?}: {errors:?}");
    }
}

#[test]
fn an_error_in_mid_stream_is_told_apart() {
    let stream = |wire: Wire, code: &str| {
        let body = match wire {
            Wire::Chat => {
                format!("data: {{\"error\":{{\"code\":\"{code}\",\"message\":\"m\"}}}}\n\n")
            }
            Wire::Responses => format!(
                "event: response.failed\ndata: {{\"type\":\"response.failed\",\"response\":{{\"error\":{{\"code\":\"{code}\",\"message\":\"m\"}}}}}}\n\n"
            ),
            Wire::Anthropic => format!(
                "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"{code}\",\"message\":\"m\"}}}}\n\n"
            ),
        };
        Play::raw("text/event-stream", body)
    };
    each(
        |wire| vec![stream(wire, "overloaded_error"), Play::text("Yes.")],
        |wire, result, _| assert_eq!(result.unwrap().attempts.len(), 2, "{wire:?}"),
    );
    each(
        |wire| vec![stream(wire, "context_length_exceeded"), Play::text("Yes.")],
        |wire, result, server| {
            let error = result.unwrap_err();
            assert_eq!(error.kind, ErrorKind::ContextOverflow, "{wire:?}");
            assert_eq!(server.left(), 1);
        },
    );
}

#[test]
fn nonsense_is_asked_about_twice_more_and_then_named() {
    let nonsense: [&dyn Fn() -> Play; 6] = [
        &|| Play::raw("text/event-stream", "data: {\"choices\": [{oops\n\n"),
        &|| Play::raw("text/event-stream", ""),
        &|| Play::raw("application/json", "{}"),
        &|| Play::raw("text/html", "<html>Sign in</html>"),
        &|| Play::raw("application/json", "[".repeat(100_000)),
        &|| Play::bytes("HTTP/9.9 what\r\n\r\n"),
    ];
    for play in nonsense {
        let script = |_| (0..8).map(|_| play()).collect();
        each(script, |wire, result, server| {
            let error = result.unwrap_err();
            let expected = [ErrorKind::Malformed, ErrorKind::Unreachable];
            assert!(expected.contains(&error.kind), "{wire:?}: {error:?}");
            assert!(error.attempts.len() <= 7);
            let asked = server.asked().len();
            assert!(asked == error.attempts.len(), "{wire:?}: {asked}, {error:?}");
        });
    }
}

#[test]
fn a_reply_without_end_has_an_end() {
    let piece = format!("data: {{\"pad\": \"{}\"}}\n\n", "x".repeat(1 << 20));
    let line = "y".repeat(1 << 20);
    for wire in WIRES {
        for body in [&piece, &line] {
            let server = Server::start([Play::endless(body)]).unwrap();
            let mut endpoint = endpoint(wire, &server.url());
            endpoint.retries.max = 0;
            let error = ask(endpoint, &mut ()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Malformed, "{wire:?}: {error}");
        }
    }
}

#[test]
fn huge_headers_and_endless_errors_are_not_read() {
    let huge = format!("HTTP/1.1 200 OK\r\nx-pad: {}\r\n\r\n", "x".repeat(1 << 20));
    let server = Server::start([Play::bytes(huge)]).unwrap();
    let mut endpoint = endpoint(Wire::Chat, &server.url());
    endpoint.retries.max = 0;
    let error = ask(endpoint.clone(), &mut ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed, "{error}");

    let server = Server::start([Play::status(400, "x".repeat(1 << 20))]).unwrap();
    endpoint.base_url = server.url();
    let error = ask(endpoint, &mut ()).unwrap_err();
    assert_eq!((error.kind, error.attempts[0].status), (ErrorKind::BadRequest, Some(400)));
    assert!(error.to_string().len() < 1000);
}

#[test]
fn a_compressed_reply_that_nobody_asked_for_is_refused() {
    let bomb = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x08..";
    let server = Server::start([Play::bytes(bomb)]).unwrap();
    let mut endpoint = endpoint(Wire::Chat, &server.url());
    endpoint.retries.max = 0;
    let error = ask(endpoint, &mut ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert!(error.to_string().contains("compressed"), "{error}");
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = Server::start([Play::text("stolen")]).unwrap();
    let to = format!("{}/chat/completions?k=1", elsewhere.url());
    for status in [301, 302, 307, 308] {
        let server = Server::start([Play::status(status, "").header("location", &to)]).unwrap();
        let error = ask(endpoint(Wire::Chat, &server.url()), &mut ()).unwrap_err();
        assert_eq!((error.kind, error.attempts.len()), (ErrorKind::BadRequest, 1));
        assert!(error.to_string().contains("sends elsewhere"), "{error}");
    }
    assert!(elsewhere.asked().is_empty());
}

#[test]
fn failures_that_stay_are_told_at_once() {
    for (status, kind, code, words) in [
        (401, ErrorKind::Unauthorized, "authentication_error", "The key in"),
        (403, ErrorKind::Unauthorized, "permission_error", "not accepted"),
        (404, ErrorKind::BadRequest, "not_found_error", "--base-url"),
        (400, ErrorKind::BadRequest, "invalid_request_error", "does not take this request"),
        (429, ErrorKind::Quota, "insufficient_quota", "no credit"),
        (402, ErrorKind::Quota, "billing_error", "no credit"),
        (413, ErrorKind::ContextOverflow, "request_too_large", "longer than"),
        (400, ErrorKind::ContextOverflow, "context_length_exceeded", "longer than"),
    ] {
        let body = error_body(code, "Not with sk-very-secret.");
        each(
            |_| vec![Play::status(status, body.clone()), Play::text("never")],
            |wire, result, server| {
                let error = result.unwrap_err();
                assert_eq!(error.kind, kind, "{wire:?} {status}");
                let text = error.to_string();
                assert!(text.contains("Not with [key]") && text.contains(words), "{text}");
                assert_eq!(server.left(), 1);
            },
        );
    }
}

#[test]
fn without_a_key_the_text_says_where_to_put_one() {
    let server = Server::start([Play::status(401, "who are you?")]).unwrap();
    let endpoint = Endpoint::new(Wire::Anthropic, &server.url(), "m");
    let error = ask(endpoint, &mut ()).unwrap_err();
    assert!(error.to_string().contains("Set ANTHROPIC_API_KEY"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let error = ask(endpoint(Wire::Chat, "http://127.0.0.1:1/v1"), &mut ()).unwrap_err();
    assert_eq!((error.kind, error.attempts.len()), (ErrorKind::Unreachable, 3));
    assert!(error.to_string().contains("--base-url"), "{error}");
}

#[test]
fn a_key_that_a_server_writes_into_its_reply_is_taken_out() {
    let leak = json!({"code": "print('sk-very-secret')"});
    let play =
        Play::call("python", leak).saying("You sent sk-very-secret.").thinking("sk-very-secret");
    each(
        |_| vec![play.clone()],
        |wire, result, _| {
            let reply = result.unwrap();
            assert_eq!(reply.text(), "You sent [key].");
            assert_eq!(reply.calls().next().unwrap().arguments, r#"{"code":"print('[key]')"}"#);
            assert!(!format!("{reply:?}").contains("very-secret"), "{wire:?}: {reply:?}");
        },
    );
}

#[test]
fn a_parameter_that_a_server_does_not_know_is_left_out() {
    let refuse = |name: &str| {
        let text = format!("Unrecognized request argument supplied: {name}");
        Play::status(400, error_body("invalid_request_error", &text))
    };
    let script = [refuse("stream_options"), Play::text("Yes."), Play::text("Again.")];
    let server = Server::start(script).unwrap();
    let mut client = Client::new(endpoint(Wire::Chat, &server.url()));
    let messages = [Message::user(vec![Part::text("Hello.")])];
    let request = Request { system: "", messages: &messages, tools: &[], cache: false };
    let reply = client.complete(&request, &mut ()).unwrap();
    assert_eq!(reply.attempts.len(), 2);
    assert!(reply.usage.estimated);
    assert_eq!(client.complete(&request, &mut ()).unwrap().attempts.len(), 1);
    let sent: Vec<_> =
        server.asked().iter().map(|asked| asked.body.get("stream_options").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[test]
fn a_parameter_that_the_user_asked_for_is_not_left_out() {
    let text = "Unsupported parameter: 'temperature' is not supported with this model.";
    let server = Server::start([Play::status(400, error_body("invalid_request_error", text))]);
    let server = server.unwrap();
    let mut endpoint = endpoint(Wire::Responses, &server.url());
    endpoint.temperature = Some(0.0);
    let error = ask(endpoint, &mut ()).unwrap_err();
    assert!(error.to_string().contains("'temperature' is not supported"), "{error}");
}

/// Limits so short that a test need not wait, and so long that a busy machine
/// does not reach them by itself.
fn short() -> Timeouts {
    let brief = Duration::from_millis(300);
    let long = Duration::from_secs(60);
    Timeouts { connect: long, first_token: brief, idle: long, total: long }
}

#[test]
fn silence_has_a_limit_at_the_beginning_in_the_middle_and_in_all() {
    let long = Duration::from_secs(60);
    let brief = Duration::from_millis(300);
    for wire in WIRES {
        let hanging = || Play::text("text").in_pieces_of(600).slowly(long);
        let pinging = || Play::endless(": ping\n\n").slowly(Duration::from_millis(20));
        let patient = Timeouts { first_token: long, ..short() };
        for (play, timeouts, words) in [
            (Play::silence(), short(), "no reply began within 300ms"),
            (pinging(), short(), "no reply began within 300ms"),
            (hanging(), Timeouts { idle: brief, ..patient }, "stood still for 300ms"),
            (pinging(), Timeouts { total: brief, ..patient }, "no whole reply within 300ms"),
        ] {
            let server = Server::start([play]).unwrap();
            let mut endpoint = endpoint(wire, &server.url());
            endpoint.timeouts = timeouts;
            endpoint.retries.max = 0;
            let error = ask(endpoint, &mut ()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Timeout, "{wire:?}: {error}");
            assert!(error.to_string().contains(words), "{wire:?}: {error}");
        }
    }
}

#[test]
fn a_timeout_is_tried_again() {
    let server = Server::start([Play::silence(), Play::text("Yes.")]).unwrap();
    let mut endpoint = endpoint(Wire::Chat, &server.url());
    endpoint.timeouts = short();
    assert_eq!(ask(endpoint, &mut ()).unwrap().attempts.len(), 2);
}

/// Stops once the server has been asked, from another thread's point of view.
struct Stopper(Arc<AtomicBool>);

impl Watch for Stopper {
    fn stopped(&mut self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn another_thread_stops_a_reply_wherever_it_is() {
    let limited = error_body("rate_limit_error", "Slow down.");
    for wire in WIRES {
        for play in [
            Play::silence(),
            Play::endless(": ping\n\n").slowly(Duration::from_millis(5)),
            Play::status(429, limited.clone()).header("retry-after", "60"),
        ] {
            let server = Server::start([play]).unwrap();
            let stop = Arc::new(AtomicBool::new(false));
            let (url, watch) = (server.url(), Stopper(stop.clone()));
            let asking = std::thread::spawn(move || {
                let mut watch = watch;
                ask(endpoint(wire, &url), &mut watch)
            });
            while server.asked().is_empty() {
                std::thread::sleep(SOON);
            }
            stop.store(true, Ordering::Relaxed);
            let error = asking.join().unwrap().unwrap_err();
            assert_eq!(error.kind, ErrorKind::Stopped, "{wire:?}: {error}");
            assert_eq!(server.asked().len(), 1);
        }
    }
}

#[test]
fn a_client_goes_on_after_it_was_stopped() {
    let server = Server::start([Play::silence(), Play::text("Yes.")]).unwrap();
    let mut client = Client::new(endpoint(Wire::Chat, &server.url()));
    let messages = [Message::user(vec![Part::text("Hello.")])];
    let request = Request { system: "", messages: &messages, tools: &[], cache: false };
    struct When<'a>(&'a Server);
    impl Watch for When<'_> {
        fn stopped(&mut self) -> bool {
            !self.0.asked().is_empty()
        }
    }
    let stopped = client.complete(&request, &mut When(&server)).unwrap_err();
    assert_eq!(stopped.kind, ErrorKind::Stopped);
    assert_eq!(client.complete(&request, &mut ()).unwrap().text(), "Yes.");
}
