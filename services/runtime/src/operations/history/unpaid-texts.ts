import type { HistoryEntry } from '@orrery/contracts';
import { LLM_TEXTS } from '@orrery/deciding';

/**
 * An entry as others than the owner see it. An execution that was paid for and failed was charged to nobody, or the money is
 * returned: shown the texts, anybody could have a model answer and then withdraw the payment, and read for nothing what it said.
 */
export function withoutUnpaidTexts(entry: HistoryEntry): HistoryEntry {
  const { llm, paymentKey, status } = entry;
  if (llm === null || paymentKey === null || status === 'succeeded' || !('request' in llm)) return entry;
  const rest = Object.entries(llm).filter(([member]) => !LLM_TEXTS.includes(member));
  // Verifications take an exchange without `request` for one of a deployment that shows no texts, and ask for no other.
  return { ...entry, llm: { ...Object.fromEntries(rest), request: null } };
}
