import {usageError} from '../../cli-errors.ts';

type Kind = {is: (start: string) => boolean; what: string; next: string};

const SAVE = 'Save it as CSV (UTF-8) there, and import that file';
const isZip = (start: string, ...parts: string[]): boolean =>
	start.startsWith('PK\x03\x04') && parts.every((part) => start.includes(part));

/** Files that programs and browsers give where a list of links is meant, by their first bytes; the first one that fits. */
const kinds: Kind[] = [
	{is: (start) => isZip(start, '[Content_Types].xml'), what: 'an Excel workbook (.xlsx)', next: SAVE},
	{is: (start) => isZip(start, 'opendocument'), what: 'an OpenDocument spreadsheet (.ods)', next: SAVE},
	{is: (start) => isZip(start, 'Index/'), what: 'a Numbers spreadsheet', next: SAVE},
	{is: (start) => isZip(start), what: 'a ZIP archive', next: 'Unpack it, and import a file of it'},
	{is: (start) => start.startsWith('\xd0\xcf\x11\xe0'), what: 'an Excel workbook (.xls)', next: SAVE},
	{
		is: (start) => start.startsWith('\x1f\x8b'),
		what: 'a gzip file',
		next: 'Unpack it with gunzip, and import what it holds',
	},
	{is: (start) => start.startsWith('%PDF-'), what: 'a PDF document', next: 'Export the links as CSV or JSON'},
	{
		is: (start) => /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml)/i.test(start),
		what: 'a page of HTML or XML',
		next: 'Download the file again, logged in',
	},
];

/** @throws OperatorError for the start of a file that holds no text of ours; `name` is the file's in words. */
export const requireText = (bytes: Uint8Array, name: string): void => {
	const start = Buffer.from(bytes).toString('latin1');
	const kind = kinds.find(({is}) => is(start));
	if (kind !== undefined) {
		throw usageError(`${name} is ${kind.what}, not CSV or JSON`, kind.next);
	}
};
