const MESSAGES: Partial<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'the directory does not exist',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EISDIR: 'a directory exists in place of the file',
  EEXIST: 'a file exists in place of the directory',
  ENOTDIR: 'a file exists in place of the directory',
}

/** Describes a file system error by its code. The text does not contain the path. */
export function describeFileError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = MESSAGES[code]
  return message === undefined ? code || 'unknown error' : `${message}, ${code}`
}
