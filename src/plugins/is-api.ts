/** Whether an address is the API's: its answers are JSON, those of all others are pages. */
export const isApi = (url: string): boolean => /^\/api(?:[/?]|$)/.test(url)
