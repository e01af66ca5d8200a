/** What a service takes, as a request to begin with: from its description, as OpenAPI 3 has it. */

const DEEPEST = 8;

/**
 * @param {any} description
 * @returns {any} an example of a request; null where the description has none
 */
export function exampleRequest(description) {
  const path = Object.keys(description?.paths ?? {}).find((each) => description.paths[each]?.post);
  if (path === undefined) return null;
  const content = description.paths[path].post.requestBody?.content ?? {};
  const json = content["application/json"] ?? Object.values(content)[0];
  if (!json) return null;
  if (json.example !== undefined) return json.example;
  return exampleOf(json.schema, description, 0);
}

/**
 * @param {any} schema
 * @param {any} description
 * @param {number} depth
 * @returns {any}
 */
export function exampleOf(schema, description, depth) {
  if (!schema || depth > DEEPEST) return null;
  if (schema.example !== undefined) return schema.example;
  if (Array.isArray(schema.examples) && schema.examples.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (typeof schema.$ref === "string") return exampleOf(lookUp(schema.$ref, description), description, depth + 1);
  const kind = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.properties || kind === "object") {
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, exampleOf(each, description, depth + 1)]));
  }
  if (kind === "array") return [exampleOf(schema.items, description, depth + 1)];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (kind === "number" || kind === "integer") return 0;
  if (kind === "boolean") return false;
  return kind === "string" ? "" : null;
}

/**
 * @param {string} reference Such as `#/components/schemas/Input`.
 * @param {any} description
 */
function lookUp(reference, description) {
  let found = description;
  for (const step of reference.replace(/^#\//, "").split("/")) found = found?.[step];
  return found;
}
