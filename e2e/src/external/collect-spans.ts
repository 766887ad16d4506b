import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '@orrery/testing/servers';

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of its trace. */
  readonly parentSpanId: string;
  /** Spans of other traces that it continues too. */
  readonly links?: readonly { readonly traceId: string }[];
}

interface Collector extends AsyncDisposable {
  /** Where spans are sent to, as JSON. */
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, 'service'>[] }[];
  }[];
}

/** Takes spans over OTLP (HTTP, JSON) and keeps them. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const sent = (await json(request)) as Export;
    for (const { resource, scopeSpans } of sent.resourceSpans) {
      const named = resource.attributes.find(({ key }) => key === 'service.name');
      const service = named?.value.stringValue ?? '';
      for (const scope of scopeSpans)
        for (const span of scope.spans)
          spans.push({ ...span, service, parentSpanId: span.parentSpanId ?? '' });
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const listening = await listen(server);
  return { endpoint: listening.url, spans, [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose]() };
}
