import type { JsonObject } from '@orrery/contracts';
import { LLM_TEXTS } from '../journal/journal-store.js';
import { type Evidence, evidenceOf } from '../models/evidence.js';
import type { RunRow } from './run-row.js';

/** The evidence of all decisions of a run, in their order. The answer of the last one may wait to be applied. */
export function evidenceOfRun({
  state,
  evidence,
  proposal,
}: Pick<RunRow, 'state' | 'evidence' | 'proposal'>): Evidence[] {
  // Both were written by the steps of the run.
  const earlier = (evidence ?? []) as unknown as Evidence[];
  return state === 'decided' || state === 'paid_decided'
    ? withEvidence(earlier, proposal as Partial<Evidence> | null)
    : earlier;
}

/** Adds what a decision has left, if anything. */
export function withEvidence(earlier: Evidence[], added: Partial<Evidence> | null): Evidence[] {
  const evidence = evidenceOf(added ?? {});
  const isEmpty = Object.values(evidence).every((part) => part === null);
  return isEmpty ? earlier : [...earlier, evidence];
}

/**
 * What the entry of a run records: the evidence of the last decision, and in `llm.earlier` what the ones before it cost,
 * without their texts.
 */
export function entryEvidence(all: readonly Evidence[]): Evidence | undefined {
  const last = all.at(-1);
  const earlier = all.slice(0, -1).flatMap(({ llm }) => (llm === null ? [] : [withoutTexts(llm)]));
  return last === undefined || earlier.length === 0 ? last : { ...last, llm: { ...last.llm, earlier } };
}

const withoutTexts = (llm: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(llm).filter(([member]) => !LLM_TEXTS.includes(member)));
