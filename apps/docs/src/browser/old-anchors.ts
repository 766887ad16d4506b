/** `/docs` was the whole reference once: links to its parts lead on to where these are now. */
export function leadOn(): void {
  if (location.pathname !== '/docs' || location.hash === '') return;
  const anchor = decodeURIComponent(location.hash.slice(1));
  const target = newPlaceOf(anchor, document.getElementById(anchor));
  if (target !== undefined) location.replace(target);
}

function newPlaceOf(anchor: string, place: Element | null): string | undefined {
  if (anchor === 'schemas' || anchor.startsWith('schema-')) return `/docs/reference/records#${anchor}`;
  if (anchor.startsWith('problem-')) return `/docs/reference/errors#${anchor}`;
  const isOfReference = place?.matches('.operations > li, h3') === true;
  return isOfReference ? (place.querySelector('a')?.getAttribute('href') ?? undefined) : undefined;
}
