import type { JsonObject } from '@orrery/sdk';
import { isObject } from '../forms/json.js';
import { SCROLLABLE } from '../ui/classes.js';
import { JsonView } from '../ui/json-view.js';
import { Details } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import { formatUsd } from '../ui/typed-text.js';
import { Badge, Copy } from '../ui/values.js';
import { type Attempt, type ExchangeFacts, exchangeFacts } from './exchange-facts.js';

/** What a model was asked, word by word, what it proposed, and what that took. Nothing where none was asked. */
export function ExchangeView({ llm }: { llm: JsonObject | null }) {
  const facts = exchangeFacts(llm);
  if (facts === undefined) return null;
  return (
    <div className="grid grid-cols-1 gap-2.5">
      <Facts facts={facts} />
      <Attempts attempts={facts.attempts} />
      <Earlier earlier={facts.earlier} />
      <Texts llm={llm} />
    </div>
  );
}

function Texts({ llm }: { llm: JsonObject | null }) {
  const texts = exchangeOf(llm);
  if (texts === undefined) return <p className="text-sm text-muted">Its prompt and answer are not public.</p>;
  const { messages, settings, response, reasons } = texts;
  return (
    <>
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
    </>
  );
}

function Facts({ facts: { model, usd, isEstimated, latencyMs, ...facts } }: { facts: ExchangeFacts }) {
  const { inputTokens, outputTokens } = facts;
  return (
    <Details
      items={{
        Model: <Badge>{model}</Badge>,
        Tokens: `${inputTokens ?? '–'} of the prompt, ${outputTokens ?? '–'} of the answer${isEstimated ? ' (estimated)' : ''}`,
        Cost: usd === undefined ? 'the model has no price' : formatUsd(usd),
        Time: latencyMs === undefined ? '–' : `${latencyMs.toLocaleString('en')} ms`,
      }}
    />
  );
}

type NumberedAttempt = Attempt & { readonly number: number };

const ATTEMPTS: readonly Column<NumberedAttempt>[] = [
  { header: 'Form', cell: ({ form }) => form },
  {
    header: 'Tokens',
    alignRight: true,
    cell: (one) => `${one.inputTokens ?? '–'} + ${one.outputTokens ?? '–'}`,
  },
  { header: 'ms', alignRight: true, cell: ({ latencyMs }) => latencyMs?.toLocaleString('en') ?? '–' },
  {
    header: 'Outcome',
    cell: ({ error, status }) => (
      <Badge tone={error === undefined ? 'ok' : 'bad'}>
        {error ?? (status === undefined ? 'taken' : `taken, ${status}`)}
      </Badge>
    ),
  },
];

/** Each request to the model's server: an answer that was refused was asked for again. */
const Attempts = ({ attempts }: Pick<ExchangeFacts, 'attempts'>) =>
  attempts.length > 0 && (
    <Table
      label="Requests to the model"
      columns={ATTEMPTS}
      rows={attempts.map((one, at) => ({ ...one, number: at + 1 }))}
      rowKey={({ number }) => number}
    />
  );

const Earlier = ({ earlier }: Pick<ExchangeFacts, 'earlier'>) =>
  earlier.length > 0 && (
    <details>
      <summary className="text-sm text-muted">Earlier decisions: the data read had changed meanwhile</summary>
      {earlier.map((facts, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are told in order and never change
        <div key={at} className="mt-1.5 space-y-2">
          <Facts facts={facts} />
          <Attempts attempts={facts.attempts} />
        </div>
      ))}
    </details>
  );

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
  const { response, reasons } = llm;
  return {
    messages: listOf(messages).filter(isObject).map(messageOf),
    /** What the request holds beside its messages: the form of the answer, temperature, seed. */
    settings,
    response: typeof response === 'string' ? prettyJson(response) : null,
    reasons: listOf(reasons).map(String),
  };
}

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
