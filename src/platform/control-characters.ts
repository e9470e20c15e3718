/** Whether a text has a control character: parsers of URLs drop some, and terminals obey others. */
export const hasControlCharacters = (text: string): boolean => /\p{Cc}/u.test(text);
