import {
  type CallContext,
  closest,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  type Said,
  withWarnings,
  writeInstead,
} from '@orrery/contracts';
import type { CompiledSchema } from '@orrery/deciding';
import { type AttributeText, COMPARISONS, findUnknownAttributes } from '@orrery/expressions';
import { answerInTime } from '@orrery/service-kit';
import type { SeenDeployment } from '../../store/deployments/deployment-directory.js';
import type { RuntimeContext } from '../context.js';

/** Where a query names attributes; and the past that it asks for. */
export interface AskedNames {
  readonly entitySchema?: string | undefined;
  readonly where?: string | undefined;
  readonly orderBy?: string | undefined;
  readonly groupBy?: string | undefined;
  readonly sum?: string | undefined;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly avg?: string | undefined;
  readonly atSeq?: number | undefined;
}

/** How long an answer waits for what is said beside it, in milliseconds: a catalog that is away delays no more queries. */
const PATIENCE_MS = 1000;

/**
 * What is said to the owner of names in a query that are likely meant otherwise. What this process remembers of the schema
 * is enough for a query without such names; the catalog is asked about others alone, and without it nothing is said.
 * Nothing is said of the past either, whose schemas nobody knows.
 */
export async function adviceOn(
  { catalog, clock }: Pick<RuntimeContext, 'catalog' | 'clock'>,
  { isOwner, worldId, worldAddress }: SeenDeployment,
  asked: AskedNames,
  call: CallContext,
): Promise<Said> {
  const { entitySchema: name } = asked;
  if (!isOwner || name === undefined || asked.atSeq !== undefined) return {};
  const remembered = catalog.rememberedSchema(worldId, name);
  if (remembered !== undefined && unknownAttributes(remembered, asked).length === 0) return {};
  const ask = async () => {
    const schema = await catalog.schema(worldId, name);
    if (schema !== undefined) return unknownAttributes(schema, asked);
    return [unknownSchema(name, await catalog.schemaNames(worldAddress, call))];
  };
  const nothing = () => [];
  return withWarnings(
    await answerInTime<FieldProblem[]>(ask, {
      clock,
      timeoutMs: PATIENCE_MS,
      late: nothing,
      failed: nothing,
    }),
  );
}

function unknownSchema(name: string, known: readonly string[]): FieldProblem {
  const message = `The world has no entity schema "${name}".${didYouMean(name, known)}`;
  const meant = writeInstead(closest(name, known));
  return fieldProblem('#query/entitySchema', 'unknown_entity_schema', message, meant);
}

const LISTS = ['orderBy', 'groupBy', 'sum', 'min', 'max', 'avg'] as const;

function unknownAttributes({ definition }: CompiledSchema, asked: AskedNames): FieldProblem[] {
  const text = (member: 'where' | (typeof LISTS)[number], kind: AttributeText['kind']): AttributeText[] => {
    const given = asked[member];
    return given === undefined ? [] : [{ pointer: `#query/${member}`, text: given, kind }];
  };
  const texts = [...text('where', 'condition'), ...LISTS.flatMap((member) => text(member, 'list'))];
  const attributes = definition.attributes.map((attribute) => attribute.name);
  return findUnknownAttributes(texts, { schema: definition.name, attributes }, { left: COMPARISONS });
}
