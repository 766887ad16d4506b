import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, Ref } from 'react';
import { classes } from './classes.js';

export type ButtonLook = 'primary' | 'secondary' | 'quiet' | 'danger';

const BASE =
  'inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors disabled:opacity-55 disabled:cursor-not-allowed';
const SIZES = { small: 'px-2 py-1 text-sm min-h-7', medium: 'px-3 py-1.5 text-base min-h-8.5' };
const LOOKS: Record<ButtonLook, string> = {
  primary: 'bg-accent text-on-accent hover:not-disabled:brightness-110',
  secondary: 'border border-line-strong/60 bg-surface text-text hover:not-disabled:bg-hover',
  quiet: 'text-muted hover:not-disabled:bg-hover hover:not-disabled:text-text',
  danger: 'border border-bad/50 bg-surface text-bad hover:not-disabled:bg-bad-soft',
};

interface LookProps {
  look?: ButtonLook | undefined;
  size?: keyof typeof SIZES | undefined;
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement>, LookProps {
  /** What it does is under way: it shows progress and takes no further click. */
  pending?: boolean | undefined;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look, size, pending = false, children, className, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classes(lookOf({ look, size }), className)}
      disabled={disabled || pending}
      aria-busy={pending || undefined}
    >
      {pending && <Spinner />}
      {children}
    </button>
  );
}

const lookOf = ({ look = 'secondary', size = 'medium' }: LookProps): string =>
  classes(BASE, SIZES[size], LOOKS[look]);

export interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement>;
}

/** A link that looks like a button; it takes the props of the router's `Link`. */
export const ButtonLink = createLink(({ look, size, className, ...rest }: AnchorProps & LookProps) => (
  <a {...rest} className={classes(lookOf({ look, size }), className)} />
));

/** The name of a thing, which leads to its page, and below it in a line what it is. */
export const NameLink = createLink(
  ({ words, className, ...rest }: AnchorProps & { words?: string | null }) => (
    <>
      <a {...rest} className={classes('link font-medium', className)} />
      {words && <p className="line-clamp-1 text-sm text-muted">{words}</p>}
    </>
  ),
);

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
