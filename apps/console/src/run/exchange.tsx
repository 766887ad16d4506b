import type { JsonObject } from '@orrery/sdk';
import { isObject } from '../forms/json.js';
import { SCROLLABLE } from '../ui/classes.js';
import { JsonView } from '../ui/json-view.js';
import { Details } from '../ui/page.js';
import { formatUsd } from '../ui/typed-text.js';
import { Badge, Copy } from '../ui/values.js';

/** What a model was asked, word by word, and what it proposed. Nothing where none was asked. */
export function ExchangeView({ llm }: { llm: JsonObject | null }) {
  const exchange = exchangeOf(llm);
  if (exchange === undefined) return null;
  const { messages, settings, response, reasons } = exchange;
  return (
    <div className="grid grid-cols-1 gap-2.5">
      <Facts llm={exchange} />
      {messages.map(({ index, role, text }) => (
        <Text key={index} title={`Prompt: ${role}`} text={text} />
      ))}
      <details>
        <summary className="text-sm text-muted">Form of the answer and settings of the request</summary>
        <div className="mt-1.5">
          <JsonView label="Settings of the request" value={settings} />
        </div>
      </details>
      {response !== null && <Text title="Proposal of the model" text={response} />}
      {reasons.length > 0 && (
        <div>
          <p className="text-sm font-medium">Why answers were refused</p>
          <ol className="list-decimal pl-5 text-sm">
            {reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ol>
        </div>
      )}
    </div>
  );
}

function Facts({ llm: { model, attempts, usage, latencyMs } }: { llm: Exchange }) {
  const { inputTokens, outputTokens, usd, isEstimated } = usage ?? {};
  return (
    <Details
      items={{
        Model: <Badge>{model}</Badge>,
        Attempts: attempts.map(callWords).join(', ') || '–',
        Tokens: `${inputTokens ?? '–'} of the prompt, ${outputTokens ?? '–'} of the answer${isEstimated ? ' (estimated)' : ''}`,
        Cost: typeof usd === 'number' ? formatUsd(usd) : 'the model has no price',
        Time: latencyMs === undefined ? '–' : `${latencyMs.toLocaleString('en')} ms`,
      }}
    />
  );
}

const callWords = ({ form, error }: JsonObject): string => `${form}${error ? ` (${error})` : ''}`;

const Text = ({ title, text }: { title: string; text: string }) => (
  <details open className="rounded-md border border-line bg-sunken">
    <summary className="px-3 py-1.5 text-sm font-medium">{title}</summary>
    <div className="border-t border-line">
      <section {...SCROLLABLE} aria-label={title} className="max-h-96 overflow-auto">
        <pre className="px-3 py-2 font-mono text-sm leading-5 whitespace-pre-wrap">{text}</pre>
      </section>
      <div className="px-1.5 pb-1">
        <Copy text={text} what={title} />
      </div>
    </div>
  </details>
);

/**
 * What a model was asked and answered, as `llm` of a dry run or of a history entry holds it (docs/ai.md). Undefined where
 * no model was asked, or its texts are not shown.
 */
export function exchangeOf(llm: JsonObject | null) {
  if (llm === null || !isObject(llm['request'])) return undefined;
  const { messages, ...settings } = llm['request'];
  const { model, response, reasons, attempts, usage, latencyMs } = llm;
  return {
    model: String(model),
    messages: listOf(messages).filter(isObject).map(messageOf),
    /** What the request holds beside its messages: the form of the answer, temperature, seed. */
    settings,
    response: typeof response === 'string' ? prettyJson(response) : null,
    reasons: listOf(reasons).map(String),
    attempts: listOf(attempts).filter(isObject),
    usage: isObject(usage) ? usage : undefined,
    latencyMs: typeof latencyMs === 'number' ? latencyMs : undefined,
  };
}

export type Exchange = NonNullable<ReturnType<typeof exchangeOf>>;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const messageOf = ({ role, content }: JsonObject, index: number) => ({
  index,
  role: String(role),
  text: typeof content === 'string' ? content : JSON.stringify(content, null, 2),
});

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
