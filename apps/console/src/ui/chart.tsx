import { type RefObject, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useZone, type Zone } from './zone.js';

export interface ChartSeries {
  readonly label: string;
  /** One for each x; null where there is none. */
  readonly values: readonly (number | null)[];
  /** What is said of each x where `values` are drawn on top of another series; `values` by default. */
  readonly own?: readonly (number | null)[] | undefined;
}

export interface ChartProps {
  /** For screen readers: what the chart shows. */
  label: string;
  /** Rising. Of `time`, seconds since 1970; of `day`, those of 00:00 UTC. */
  x: readonly number[];
  xKind: 'seq' | 'time' | 'day';
  series: readonly ChartSeries[];
  kind: 'steps' | 'bars';
  /** Whether its values count things: half ones are no ticks then. */
  isWhole?: boolean | undefined;
  /** How a value is written; as it is by default. */
  format?: ((value: number) => string) | undefined;
  /** The x that is marked with a line. */
  marker?: number | undefined;
  /** Called with the x that was clicked. */
  onPick?: ((x: number) => void) | undefined;
}

export default function Plot(props: ChartProps) {
  const { label, x, series, marker, onPick } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const latest = useRef({ marker, onPick, x, series });
  latest.current = { marker, onPick, x, series };
  const colours = useColours(host);
  const zone = useZone();
  const { xKind, kind, format, isWhole } = props;
  const names = series.map((one) => one.label).join('\n');
  useEffect(() => {
    const element = host.current;
    if (element === null || colours === undefined) return;
    const { x: xs, series: lines } = latest.current;
    const own = (line: number, at: number) => latest.current.series[line]?.own?.[at];
    const options = optionsOf({ xKind, kind, format, isWhole, zone, names: names.split('\n'), colours, own });
    options.width = element.clientWidth;
    options.hooks = {
      draw: [(drawn) => drawMarker(drawn, latest.current.marker, colours.accent)],
      ready: [(ready) => ready.over.addEventListener('click', () => pick(ready, latest.current.onPick))],
    };
    const made = new uPlot(options, dataOf(xs, lines), element);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [xKind, kind, format, isWhole, zone, names, colours]);
  useEffect(() => plot.current?.setData(dataOf(x, series)), [x, series]);
  useEffect(() => {
    latest.current.marker = marker;
    plot.current?.redraw(false);
  }, [marker]);
  return <div ref={host} role="img" aria-label={label} className="min-h-24 w-full text-sm text-text" />;
}

/** Pixels. */
const HEIGHT = 220;

const dataOf = (x: ChartProps['x'], series: ChartProps['series']): uPlot.AlignedData => [
  [...x],
  ...series.map(({ values }) => [...values]),
];

function pick({ cursor, data }: uPlot, onPick: ChartProps['onPick']): void {
  const x = cursor.idx === null || cursor.idx === undefined ? undefined : data[0][cursor.idx];
  if (x !== undefined) onPick?.(x);
}

function drawMarker(plot: uPlot, marker: number | undefined, colour: string): void {
  if (marker === undefined) return;
  const at = Math.round(plot.valToPos(marker, 'x', true));
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(at, bbox.top);
  ctx.lineTo(at, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

interface LookOptions extends Pick<ChartProps, 'xKind' | 'kind' | 'format' | 'isWhole'> {
  zone: Zone;
  names: readonly string[];
  colours: NonNullable<ReturnType<typeof useColours>>;
  /** The value that is said in place of the drawn one. */
  own: (series: number, at: number) => number | null | undefined;
}

function optionsOf({ xKind, kind, format, isWhole, zone, names, colours, own }: LookOptions): uPlot.Options {
  const axis = {
    stroke: colours.muted,
    grid: { stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1 },
  };
  const write = format ?? ((value: number) => String(value));
  const paths = {
    steps: uPlot.paths.stepped?.({ align: 1 }),
    bars: uPlot.paths.bars?.({ size: [0.7, 40] }),
  }[kind];
  const isBars = kind === 'bars';
  return {
    width: 300,
    height: HEIGHT,
    scales: { x: { time: xKind !== 'seq', ...(xKind === 'day' && { range: wholeDays }) } },
    // A day in UTC must not become the evening before in the reader's zone.
    ...((xKind === 'day' || zone === 'utc') && {
      tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
    }),
    axes: [
      { ...axis, ...X_AXES[xKind] },
      {
        ...axis,
        size: 60,
        ...(isWhole && { incrs: WHOLE_STEPS }),
        values: (_plot, ticks) => ticks.map(write),
      },
    ],
    cursor: { y: false },
    series: [
      {
        label: X_LABELS[xKind],
        ...(xKind === 'day' && {
          value: (_plot: uPlot, day: number | null) => (day === null ? '–' : dayOf(day)),
        }),
      },
      ...names.map((label, index) => {
        const stroke = colours.series[index % colours.series.length] ?? colours.accent;
        return {
          label,
          stroke,
          // The outline of a bar of no height would be a line.
          width: isBars ? 0 : 1.75,
          spanGaps: true,
          ...(paths && { paths }),
          ...(isBars && { fill: stroke, points: { show: false } }),
          value: (_plot: uPlot, drawn: number | null, _series: number, at: number | null) => {
            const value = (at === null ? undefined : own(index, at)) ?? drawn;
            return value === null ? '–' : write(value);
          },
        };
      }),
    ],
  };
}

/** What stands before the value of x in the legend. */
const X_LABELS = { seq: 'Entry', time: 'Time', day: 'Day' } as const;

/** Half entries are none. */
const WHOLE_STEPS = Array.from({ length: 30 }, (_, at) => [1, 2, 5].map((step) => step * 10 ** at)).flat();
const X_AXES: Record<ChartProps['xKind'], uPlot.Axis> = {
  seq: { incrs: WHOLE_STEPS },
  time: {},
  day: { values: (_plot, days) => days.map(monthAndDay) },
};

const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10);
const monthAndDay = (at: number): string => dayOf(at).slice(5);

const HALF_DAY = 43_200;
/** Room for all of the first and the last bar. */
const wholeDays = (_plot: uPlot, first: number, last: number): uPlot.Range.MinMax => [
  first - HALF_DAY,
  last + HALF_DAY,
];

const SERIES = ['--accent', '--brass', '--ok', '--bad', '--muted', '--warn'];

/** The page's colours as a canvas needs them, and again when the theme changes. */
function useColours(host: RefObject<HTMLElement | null>) {
  const [colours, setColours] = useState<ReturnType<typeof coloursAt>>();
  useEffect(() => {
    const read = () => host.current !== null && setColours(coloursAt(host.current));
    read();
    const themes = new MutationObserver(read);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', read);
    return () => {
      themes.disconnect();
      system.removeEventListener('change', read);
    };
  }, [host]);
  return colours;
}

/** A custom property is a text; only as the colour of an element does the browser compute it. */
function coloursAt(host: HTMLElement) {
  const probe = document.createElement('i');
  host.append(probe);
  const computed = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    accent: computed('--accent'),
    muted: computed('--muted'),
    line: computed('--line'),
    series: SERIES.map(computed),
  };
  probe.remove();
  return colours;
}
