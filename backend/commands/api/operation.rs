//! The operations of the JSON API, read from its own OpenAPI document.

use serde_json::Value;

/// Where an argument goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Body,
}

/// What an argument is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Number,
    Switch,
    /// May be given several times.
    Texts,
    /// Anything else, typed as JSON.
    Json,
}

#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// As the API calls it.
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) shape: Shape,
    pub(super) required: bool,
    pub(super) help: String,
}

#[derive(Debug, Clone)]
pub(super) struct Operation {
    /// What it is about, as in `topics`.
    pub(super) subject: String,
    /// What it does, as in `create`.
    pub(super) verb: String,
    pub(super) method: String,
    /// With its parameters in braces.
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) arguments: Vec<Argument>,
}

/// Everything in `document` that is about clusters.
pub(super) fn operations(document: &Value) -> Vec<Operation> {
    let paths = document.get("paths").and_then(Value::as_object);
    let mut operations = Vec::new();
    for (path, item) in paths.into_iter().flatten().filter(|(path, _)| path.starts_with("/api/v1/clusters")) {
        for (method, told) in item.as_object().into_iter().flatten() {
            operations.extend(operation(document, method, path, told));
        }
    }
    operations
}

fn operation(document: &Value, method: &str, path: &str, told: &Value) -> Option<Operation> {
    let subject = told.pointer("/tags/0")?.as_str()?.replace(' ', "-");
    let verb = told.get("operationId")?.as_str()?.replace('_', "-");
    let mut arguments: Vec<Argument> =
        list(told.get("parameters")).iter().filter_map(|parameter| of_address(document, parameter)).collect();
    let body = told.pointer("/requestBody/content/application~1json/schema").map(|schema| followed(document, schema));
    for argument in body.into_iter().flat_map(|schema| of_body(document, schema)) {
        // What the address says is not said again.
        if arguments.iter().all(|known| known.name != argument.name) {
            arguments.push(argument);
        }
    }
    Some(Operation {
        subject,
        verb,
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: [told.get("summary"), told.get("description")]
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" "),
        arguments,
    })
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What `schema` stands for, where it only points at another.
fn followed<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let named = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'));
    named.and_then(|at| document.pointer(at)).unwrap_or(schema)
}

fn of_address(document: &Value, parameter: &Value) -> Option<Argument> {
    let place = match parameter.get("in")?.as_str()? {
        "path" => Place::Path,
        "query" => Place::Query,
        _ => return None,
    };
    let schema = parameter.get("schema").map(|schema| followed(document, schema));
    Some(Argument {
        name: parameter.get("name")?.as_str()?.to_owned(),
        place,
        // A path is text whatever it means.
        shape: if place == Place::Path { Shape::Text } else { schema.map_or(Shape::Text, shape) },
        required: parameter.get("required").and_then(Value::as_bool).unwrap_or(false),
        help: parameter.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
    })
}

fn of_body<'a>(document: &'a Value, schema: &'a Value) -> impl Iterator<Item = Argument> + 'a {
    let required = list(schema.get("required"));
    schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(move |(name, told)| Argument {
        name: name.clone(),
        place: Place::Body,
        shape: shape(followed(document, told)),
        required: required.iter().any(|wanted| wanted == name),
        help: told.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " "),
    })
}

fn shape(schema: &Value) -> Shape {
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        // As in ["integer", "null"].
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        _ => return Shape::Json,
    };
    match kind {
        "string" => Shape::Text,
        "integer" | "number" => Shape::Number,
        "boolean" => Shape::Switch,
        "array" if schema.pointer("/items/type").and_then(Value::as_str) == Some("string") => Shape::Texts,
        _ => Shape::Json,
    }
}
