use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::Usage;

/// A user with files, flags and variables.
struct User {
    folder: tempfile::TempDir,
    given: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl User {
    fn new(given: &[(&str, &str)], environment: &[(&str, &str)]) -> Self {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let folder = tempfile::tempdir().unwrap();
        User { folder, given: map(given), environment: map(environment) }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    fn here(self, text: &str) -> Self {
        std::fs::write(self.folder.path().join("rua.toml"), text).unwrap();
        self
    }

    fn at_home(self, text: &str) -> Self {
        let folder = self.config().join("ruaflow");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("rua.toml"), text).unwrap();
        self
    }

    fn files(&self) -> Result<Files, SettingError> {
        Files::load(self.folder.path(), Some(&self.config()))
    }

    fn resolve(&self, provider: Provider) -> Result<Endpoint, SettingError> {
        self.look(|sources| Endpoint::resolve(provider, sources))?
    }

    fn look<T>(&self, look: impl FnOnce(&Sources) -> T) -> Result<T, SettingError> {
        let given = |name: &str| self.given.get(name).cloned();
        let environment = |name: &str| self.environment.get(name).cloned();
        let files = self.files()?;
        Ok(look(&Sources { given: &given, environment: &environment, files: &files }))
    }

    fn refused(&self, provider: Provider) -> String {
        self.resolve(provider).unwrap_err().to_string()
    }
}

const KEYS: [(&str, &str); 2] =
    [("OPENAI_API_KEY", "sk-openai-1"), ("ANTHROPIC_API_KEY", "sk-ant-1")];

#[test]
fn a_model_is_its_providers_where_nobody_says_otherwise() {
    let named = |given: &[(&str, &str)], here: &str| {
        User::new(given, &[]).here(here).look(Provider::named).unwrap()
    };
    assert_eq!(named(&[], "[models.m]"), None);
    assert_eq!(named(&[], "model = \"m\""), Some(Provider::OpenAi));
    assert_eq!(named(&[("RUA_MODEL", "claude-opus-5")], ""), Some(Provider::Anthropic));
    let gateway = [("RUA_MODEL", "claude-opus-5"), ("RUA_BASE_URL", "http://gateway/v1")];
    assert_eq!(named(&gateway, ""), Some(Provider::OpenAi));
    let messages = "[models.m]\nwire = \"anthropic\"\nbase_url = \"http://here/v1\"";
    assert_eq!(named(&[("RUA_MODEL", "m")], messages), Some(Provider::Anthropic));
}

#[test]
fn a_name_and_a_key_are_all_it_takes() {
    let user = User::new(&[("RUA_MODEL", "gpt-5.5")], &KEYS);
    let endpoint = user.resolve(Provider::OpenAi).unwrap();
    assert_eq!(endpoint.wire, Wire::Responses);
    assert_eq!(endpoint.url(), "https://api.openai.com/v1/responses");
    assert_eq!(endpoint.key, Secret::new("sk-openai-1"));
    assert_eq!(endpoint.timeouts, Timeouts::default());
    let endpoint = user.resolve(Provider::Anthropic).unwrap();
    assert_eq!(endpoint.url(), "https://api.anthropic.com/v1/messages");
    assert_eq!(endpoint.key, Secret::new("sk-ant-1"));

    let user = User::new(&[("RUA_MODEL", "gpt-5.5")], &[]);
    let text = user.refused(Provider::OpenAi);
    assert_eq!(text, "OPENAI_API_KEY is not set: it holds the key for https://api.openai.com/v1");
    assert!(User::new(&[], &KEYS).refused(Provider::OpenAi).contains("--model"));
}

#[test]
fn elsewhere_the_wire_is_chat_and_a_key_is_no_must() {
    let given = [("RUA_MODEL", "m"), ("RUA_BASE_URL", "http://127.0.0.1:8080/v1/")];
    let endpoint = User::new(&given, &[]).resolve(Provider::OpenAi).unwrap();
    assert_eq!(endpoint.url(), "http://127.0.0.1:8080/v1/chat/completions");
    assert_eq!(endpoint.key, None);

    let environment = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
    let endpoint = User::new(&given[..1], &environment).resolve(Provider::Anthropic).unwrap();
    assert_eq!(endpoint.url(), "http://127.0.0.1:9/v1/messages");
}

#[test]
fn a_flag_goes_before_a_profile() {
    let profile = r#"
        model = "local"
        [models.local]
        model = "qwen"
        base_url = "http://127.0.0.1:1/v1"
        temperature = 0.5
        tool_mode = "json-schema"
        idle_timeout = "1m 30s"
        first_token_timeout = 7
        stream = false
        retries = 2
    "#;
    let user = User::new(&[("RUA_TEMPERATURE", "0"), ("RUA_EFFORT", "")], &[]).here(profile);
    let endpoint = user.resolve(Provider::OpenAi).unwrap();
    assert_eq!(endpoint.model, "qwen");
    assert_eq!(endpoint.temperature, Some(0.0));
    assert_eq!(endpoint.effort, None);
    assert_eq!(endpoint.tool_mode, ToolMode::JsonSchema);
    assert_eq!(endpoint.timeouts.idle, Duration::from_secs(90));
    assert_eq!(endpoint.timeouts.first_token, Duration::from_secs(7));
    assert!(!endpoint.stream);
    assert_eq!(endpoint.retries.max, 2);
    let text = user.refused(Provider::Anthropic);
    assert_eq!(text, "--tool-mode json-schema needs a server with --wire chat or responses");
}

#[test]
fn the_files_of_folder_and_user_add_up_and_the_folders_goes_before() {
    let here = "[models.a]\nmodel = 'here'\n[prices.here]\ninput = 1\noutput = 2\n";
    let home = "model = 'a'\n[models.a]\nmodel = 'home'\n[models.b]\neffort = 'low'\n[prices.here]\ninput = 9\noutput = 9\n";
    let user = User::new(&[], &KEYS).here(here).at_home(home);
    assert_eq!(user.resolve(Provider::OpenAi).unwrap().model, "here");
    let user = User { given: [("RUA_MODEL".to_owned(), "b".to_owned())].into(), ..user };
    let endpoint = user.resolve(Provider::OpenAi).unwrap();
    assert_eq!((endpoint.model.as_str(), endpoint.effort.as_deref()), ("b", Some("low")));
    let usage = Usage { input: 1_000_000, ..Usage::default() };
    assert_eq!(user.files().unwrap().prices().price("here", &usage), Some(1.0));
}

#[test]
fn a_folders_file_can_not_send_a_key_to_an_address_of_its_choice() {
    let here = "model = 'm'\n[models.m]\nbase_url = 'https://evil.example/v1'\nkey_env = 'TOKEN'\n";
    let environment = [("TOKEN", "secret-token")];
    let user = User::new(&[], &environment).here(here);
    let text = user.refused(Provider::OpenAi);
    assert!(text.contains("TOKEN to https://evil.example/v1"), "{text}");
    assert!(!text.contains("secret-token"));
    let said = User::new(&[("RUA_KEY_ENV", "TOKEN")], &environment).here(here);
    assert_eq!(said.resolve(Provider::OpenAi).unwrap().key, Secret::new("secret-token"));
    let own = User::new(&[], &environment).at_home(here);
    assert_eq!(own.resolve(Provider::OpenAi).unwrap().key, Secret::new("secret-token"));
    let implied = User::new(&[], &KEYS).here(&here.replace("key_env = 'TOKEN'", ""));
    assert!(implied.refused(Provider::OpenAi).contains("OPENAI_API_KEY"));
    let local = User::new(&[], &environment).here(&here.replace("evil.example", "localhost"));
    assert_eq!(local.resolve(Provider::OpenAi).unwrap().key, Secret::new("secret-token"));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let wrong = |name: &str, value: &str| {
        User::new(&[("RUA_MODEL", "m"), (name, value)], &KEYS).refused(Provider::OpenAi)
    };
    assert_eq!(
        wrong("RUA_TEMPERATURE", "hot"),
        "--temperature (RUA_TEMPERATURE) is \"hot\", expected a number from 0 to 2"
    );
    assert!(wrong("RUA_WIRE", "grpc").ends_with("expected chat, responses or anthropic"));
    assert!(wrong("RUA_MAX_OUTPUT_TOKENS", "0").contains("a number of tokens"));
    assert!(wrong("RUA_IDLE_TIMEOUT", "-1").contains("a duration"));
    for url in ["ftp://h/v1", "h/v1", "https://h/v1?key=1"] {
        assert!(wrong("RUA_BASE_URL", url).contains("without a user or a query"), "{url}");
    }
    assert!(!wrong("RUA_BASE_URL", "https://me:secret@h/v1").contains("secret"));

    let file = |text: &str| User::new(&[], &KEYS).here(text).refused(Provider::OpenAi);
    assert!(file("[models.a]\nkey = 'sk'\n").contains("key in [models.a] is no setting"));
    assert!(file("[models.a]\nmodel = []\n").contains("is no single value"));
    assert!(file("models = 3\n").contains("rua.toml"));
}

#[test]
fn the_table_says_the_defaults_that_hold() {
    let default = |name: &str| SETTINGS.iter().find(|s| s.name == name).unwrap().default;
    let duration = |name: &str| humantime::parse_duration(default(name)).unwrap();
    let Timeouts { connect, first_token, idle, total } = Timeouts::default();
    assert_eq!(duration("connect-timeout"), connect);
    assert_eq!(duration("first-token-timeout"), first_token);
    assert_eq!(duration("idle-timeout"), idle);
    assert_eq!(duration("request-timeout"), total);
    assert_eq!(duration("longest-pause"), Retries::default().longest_pause);
    assert_eq!(default("retries"), Retries::default().max.to_string());
    let rows = table().lines().filter(|line| line.starts_with("| `--")).count();
    assert_eq!(rows, SETTINGS.len());
}

#[test]
fn the_docs_have_the_table() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/models.md");
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains(&table()), "docs/models.md should have this table:\n\n{}", table());
}
