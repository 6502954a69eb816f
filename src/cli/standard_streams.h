// What a process finds as standard input, output and error, and what became of what it printed.
#pragma once

namespace sluice::cli {

/// Makes sure that descriptors 0 to 2 are taken. Where one was closed, the next file opened would
/// get its number, and what is printed would go into that file.
void HoldStandardStreams();

/// The exit code, after what is printed has been written out: 1 instead of 0, with a message, when
/// some of it could not be (a full disk). Nobody reading a pipe any more is no failure.
int WithResultsWritten(int code);

}  // namespace sluice::cli
