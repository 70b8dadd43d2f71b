/** The page in a query string; 1 if it is missing or invalid. */
export const parsePage = (text: unknown): number =>
  typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1

/** Builds the Link header (RFC 8288) of a page of a list. */
export function buildPaginationLinks(url: string, page: number, totalPages: number): string {
  // A query may contain question marks.
  const [path = '', ...queries] = url.split('?')
  const query = queries.join('?')
  const last = Math.max(totalPages, 1)
  const link = (rel: string, to: number): string => {
    const parameters = new URLSearchParams(query)
    parameters.set('page', String(to))
    return `<${path}?${parameters.toString()}>; rel="${rel}"`
  }
  return [
    link('first', 1),
    ...(page > 1 ? [link('prev', Math.min(page - 1, last))] : []),
    ...(page < last ? [link('next', page + 1)] : []),
    link('last', last),
  ].join(', ')
}
