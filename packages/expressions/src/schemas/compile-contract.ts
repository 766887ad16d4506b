import {
  type FieldProblem,
  fieldProblem,
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { compileSchema } from './compile-schema.js';
import type { Check } from './keywords/validation.js';
import { DIALECT, expandShortMap, isJsonSchema } from './short-map.js';
import { SCHEMA_KEYWORDS } from './survey/keyword-shapes.js';
import { referenceProblems } from './survey/references.js';
import { CONTRACT_LIMITS, type Survey, surveySchema } from './survey/survey-schema.js';

/** A contract ready to check values; made by `compileContract`, opaque to its users. */
export interface CompiledContract {
  /** The contract as JSON Schema 2020-12, closed at its root. */
  readonly schema: JsonObject;
  readonly survey: Survey;
  readonly check: Check;
}

export type ContractResult =
  | { ok: true; contract: CompiledContract }
  | { ok: false; problems: FieldProblem[] };

/**
 * Compiles an `inputSchema` or `outputSchema`: a short map, or JSON Schema 2020-12. Undeclared keys are refused: in a
 * short map everywhere, in a JSON Schema at the root unless it says itself what may stand there
 * (`additionalProperties` or `unevaluatedProperties`); deeper down JSON Schema's own rule holds. Never throws.
 */
export function compileContract(source: JsonValue): ContractResult {
  if (!isJsonObject(source))
    return refuse([fieldProblem('', 'invalid_schema', 'A contract must be an object.')]);
  const unsafe = findUnsafeJson(source);
  if (unsafe !== undefined) return refuse([unsafe]);
  if (JSON.stringify(source).length > CONTRACT_LIMITS.characters)
    return refuse([
      fieldProblem(
        '',
        'schema_too_large',
        `A contract may have at most ${CONTRACT_LIMITS.characters} characters.`,
      ),
    ]);
  return isJsonSchema(source) ? compileJsonSchema(source) : compileShortMap(source);
}

const refuse = (problems: FieldProblem[]): ContractResult => ({
  ok: false,
  problems: problems.slice(0, CONTRACT_LIMITS.problems),
});

function compileShortMap(map: JsonObject): ContractResult {
  const problems: FieldProblem[] = [];
  const schema = { $schema: DIALECT, ...expandShortMap(map, '', problems) };
  if (problems.length > 0) return refuse(problems);
  const survey = surveySchema(schema);
  const [tooLarge] = survey.problems;
  if (tooLarge !== undefined) return refuse([fieldProblem('', tooLarge.code, tooLarge.message)]);
  return { ok: true, contract: { schema, survey, check: compileSchema(schema, survey) } };
}

function compileJsonSchema(source: JsonObject): ContractResult {
  const { $schema: dialect = DIALECT } = source;
  if (dialect !== DIALECT && dialect !== `${DIALECT}#`)
    return refuse([fieldProblem('/$schema', 'invalid_schema', `The only supported dialect is ${DIALECT}.`)]);
  const schema = closeRoot({ ...source, $schema: DIALECT });
  const survey = surveySchema(schema);
  if (survey.problems.length > 0) return refuse(survey.problems);
  const lost = referenceProblems(survey);
  if (lost.length > 0) return refuse(lost);
  return { ok: true, contract: { schema, survey, check: compileSchema(schema, survey) } };
}

/** Adds `additionalProperties: false`, or `unevaluatedProperties: false` where other keywords declare keys too. */
function closeRoot(schema: JsonObject): JsonObject {
  const isExplicit = 'additionalProperties' in schema || 'unevaluatedProperties' in schema;
  if (isExplicit) return schema;
  const declaresElsewhere = Object.keys(schema).some(
    (key) => key === '$ref' || SCHEMA_KEYWORDS.get(key)?.inPlace,
  );
  return { ...schema, [declaresElsewhere ? 'unevaluatedProperties' : 'additionalProperties']: false };
}

/** The contract as JSON Schema 2020-12, for a model's output and for documentation. Not to be changed. */
export const toJsonSchema = ({ schema }: CompiledContract): JsonObject => schema;
