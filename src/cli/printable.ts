/** A text as one line that moves no cursor: control characters, line breaks too, are a space. */
export const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

/** The same of a text of several lines, which stay lines. */
export const printable = (text: string): string => text.split('\n').map(oneLine).join('\n');
