//! Language models over HTTP: three wire formats behind one client.
