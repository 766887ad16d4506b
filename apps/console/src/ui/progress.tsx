/** A small turning ring beside words that say what it stands for. */
export const Spinner = () => (
  <svg viewBox="0 0 16 16" className="size-3.5 motion-safe:animate-spin" aria-hidden="true">
    <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" strokeOpacity="0.25" strokeWidth="2" />
    <path
      d="M8 1.5A6.5 6.5 0 0 1 14.5 8"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
    />
  </svg>
);

export interface ProgressProps {
  /** What is waited for: "Loading the worlds". */
  label: string;
  /** How much is done, 0 to 1; without it nobody knows. */
  value?: number | undefined;
}

export function Progress({ label, value }: ProgressProps) {
  if (value === undefined)
    return (
      <p role="status" className="flex items-center gap-2 py-6 text-muted">
        <Spinner /> {label} …
      </p>
    );
  const percent = Math.round(value * 100);
  return (
    <div className="py-3">
      <p className="mb-1.5 flex justify-between text-sm text-muted">
        <span>{label}</span> <span>{percent} %</span>
      </p>
      <progress
        aria-label={label}
        value={percent}
        max={100}
        className="block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent motion-safe:[&::-webkit-progress-value]:transition-[width]"
      />
    </div>
  );
}
